/** Histories in and out on the real command line: repair, convert, export, import, migrate. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, temporaryDirectory } from "../support/cli.ts";

const TIME = "2026-01-05T09:00:00.000Z";
const HEADER = `{"type":"session","version":3,"id":"s-1","timestamp":"${TIME}","cwd":"/work"}\n`;
const line = (id: string, parentId: string | null, text: string): string =>
  `${JSON.stringify({ type: "message", id, parentId, timestamp: TIME, message: { role: "user", content: text } })}\n`;
const SOUND = HEADER + line("u1", null, "hello") + line("u2", "u1", "again");
const FLAT = `{"id":"m1","parentId":null,"role":"user","content":"你好","timestamp":1710000000,"channel":"telegram"}\n`;

describe("transcript repair and convert", () => {
  test("repair writes beside the file, explains, and leaves the file alone; a sound one needs nothing", async () => {
    await using dir = await temporaryDirectory();
    const file = join(dir.path, "s-1.jsonl");
    await writeFile(file, `${SOUND}{"torn`);
    const { code, stdout } = await runCli(["transcript", "repair", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /written\s+\S+s-1\.repaired\.jsonl: 2 entries[\s\S]*line 4 \(offset \d+\): damage set aside: not JSON/,
    );
    expect(await readFile(file, "utf8")).toBe(`${SOUND}{"torn`);
    expect(await readFile(join(dir.path, "s-1.repaired.jsonl"), "utf8")).toBe(SOUND);
    const again = await runCli(["transcript", "repair", join(dir.path, "s-1.repaired.jsonl"), "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ repaired: null, changes: [] });
    expect((await runCli(["transcript", "repair", join(dir.path, "none.jsonl")])).code).toBe(5);
  });

  test("convert makes version 3 of an older version and of the older layout", async () => {
    await using dir = await temporaryDirectory();
    const old = join(dir.path, "old.jsonl");
    await writeFile(old, SOUND.replace('"version":3', '"version":2'));
    const flat = join(dir.path, "telegram_7.jsonl");
    await writeFile(flat, FLAT);
    for (const file of [old, flat]) {
      const made = await runCli(["transcript", "convert", file, "--json"]);
      expect(made).toMatchObject({ code: 0, stderr: "" });
      const { repaired } = JSON.parse(made.stdout);
      expect((await runCli(["transcript", "verify", repaired])).code).toBe(0);
      expect(await readFile(repaired, "utf8")).toContain('"version":3');
    }
  });
});

describe("session import and export", () => {
  test("a flat file finds its key by its name, comes back byte for byte, and comes in once", async () => {
    await using dir = await temporaryDirectory();
    const home = join(dir.path, "home");
    const file = join(dir.path, "telegram_7.jsonl");
    await writeFile(file, FLAT);
    const run = (...args: string[]) => runCli(["--home", home, ...args]);
    const first = await run("session", "import", file, "--json");
    expect(JSON.parse(first.stdout)).toMatchObject({ kind: "created", key: "agent:main:telegram:direct:7", added: 1 });
    expect(JSON.parse((await run("session", "import", file, "--json")).stdout)).toMatchObject({ kind: "unchanged" });
    const key = "agent:main:telegram:direct:7";
    expect((await run("session", "export", key, "--format", "flat")).stdout).toBe(FLAT);
    const json = JSON.parse((await run("session", "export", key)).stdout);
    expect(json).toMatchObject({
      session: { key, channel: "telegram" },
      leaf: "m1",
      messages: [{ id: "m1", content: "你好" }],
    });
    const html = (await run("session", "export", key, "--format", "html", "--lang", "zh")).stdout;
    expect(html).toContain("<b>用户</b>");
    expect((await run("session", "export", key, "--format", "markdown")).stdout).toContain(
      "### User · 2024-03-09 16:00",
    );
    expect((await run("session", "export", key, "--format", "pdf")).code).toBe(2);
    expect((await run("session", "export", "nobody")).code).toBe(5);
  });

  test("a key that has another conversation is refused", async () => {
    await using dir = await temporaryDirectory();
    const run = (...args: string[]) => runCli(["--home", join(dir.path, "home"), "session", "import", ...args]);
    for (const id of ["s-1", "s-2"]) await writeFile(join(dir.path, `${id}.jsonl`), HEADER + line(`${id}-u`, null, id));
    expect((await run(join(dir.path, "s-1.jsonl"), "--session", "main")).code).toBe(0);
    const refused = await run(join(dir.path, "s-2.jsonl"), "--session", "main", "--json");
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "import_conflict" } });
    expect(refused.code).toBe(1);
  });
});

test("migrate pi: what there is comes over, what cannot is named, and the exit code says so", async () => {
  await using dir = await temporaryDirectory();
  const home = join(dir.path, "home");
  const folder = join(dir.path, "pi", "agent", "sessions", "--work--");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "2026-01-05T09-00-00-000Z_s-1.jsonl"), SOUND);
  const run = (...args: string[]) => runCli(["--home", home, ...args]);
  const { code, stdout } = await run("migrate", "pi", join(dir.path, "pi"));
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/carried over\s+1 conversation/) });
  expect(JSON.parse((await run("session", "list", "--json")).stdout).sessions).toMatchObject([
    { key: "agent:main:pi:s-1", sessionId: "s-1", cwd: "/work" },
  ]);
  await writeFile(join(folder, "broken.jsonl"), "nothing\n");
  const second = await run("migrate", "pi", folder, "--json");
  expect(second.code).toBe(3);
  expect(JSON.parse(second.stdout)).toMatchObject({
    carried: [{ kind: "unchanged" }],
    skipped: [{ why: expect.any(String) }],
  });
  expect((await run("migrate", "pi", join(dir.path, "nowhere"))).code).toBe(2);
  expect((await run("migrate", "other", folder)).code).toBe(2);
});
