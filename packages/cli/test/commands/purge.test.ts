/** `session purge` on a home: looked for in every file of it, and what must stay stays. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const KEY = "agent:main:telegram:direct:7";
const SECRET = "sk-very-secret";

test("transcript, index and action folders hold it no more; the record of a business act and copies are named or kept", async () => {
  await using dir = await temporaryDirectory();
  const home = join(dir.path, "home");
  const directory = join(home, "agents", "main", "sessions");
  const action = join(home, "actions", "k1");
  await mkdir(join(action, "1"), { recursive: true });
  await writeFile(join(action, "1", "output"), SECRET);
  const where = { session: KEY, entryId: "e", ordinal: 0, atMs: 1 };
  const record = [
    { event: "intent", ...where, attempt: 1, evidence: { body: SECRET } },
    { event: "outcome", ...where, verdict: "happened", outcome: { ok: true, text: SECRET, details: { SECRET } } },
  ];
  await writeFile(join(action, "record.jsonl"), record.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await using sessions = await openSessions({ directory });
  const session = await sessions.open(KEY);
  await session.append([
    { type: "message", message: { role: "user", content: SECRET } },
    { type: "custom", customType: "holdfast:intent", data: { key: "k1", args: SECRET } },
  ]);
  await sessions.update(KEY, { label: SECRET, importedFrom: { program: "pi", file: "/old/x.jsonl" } });
  const { id } = session;
  await sessions.close();
  await writeFile(join(directory, `${id}.repaired.jsonl`), "a copy that somebody made\n");
  const run = async (...args: string[]) => {
    const ran = await runHere(["--home", home, "session", "purge", ...args, "--json"]);
    return { code: ran.code, value: JSON.parse(ran.stdout) };
  };
  expect(await run("telegram_7")).toMatchObject({ code: 2, value: { error: { code: "usage" } } });
  expect(await run("telegram_7", "--dry-run")).toMatchObject({ code: 0, value: { dryRun: true, folders: 0 } });
  expect(await run("telegram_7", "--yes")).toMatchObject({
    code: 0,
    value: {
      key: KEY,
      kept: null,
      destroyed: [{ file: `${id}.jsonl` }],
      actions: ["k1"],
      folders: 1,
      scrubbed: true,
      unreachable: [
        join(directory, `${id}.repaired.jsonl`),
        "/old/x.jsonl (it was imported from there)",
        expect.stringContaining("backups"),
      ],
    },
  });
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    expect((await readFile(join(entry.parentPath, entry.name))).includes(SECRET), entry.name).toBe(false);
  }
  expect(await readFile(join(action, "record.jsonl"), "utf8")).toMatch(
    /"intent"[^\n]*\n.*"happened","outcome":\{"ok":true,/,
  );
  const text = await runHere(["--home", home, "session", "purge", KEY, "--yes"]);
  expect(text.code).toBe(5);
});
