/** `holdfast migrate openclaw`: whole small homes brought over, killed on the way, with their settings, the source untouched. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashesOf } from "../../../sessions/test/support/hashes.ts";
import { jsonHome, sqliteHome } from "../../../sessions/test/support/openclaw-home.ts";
import { runCli, temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

/** What is in a home after a migration, but for what differs from run to run. */
async function contentOf(home: string): Promise<unknown> {
  const listed = await runHere(["--home", home, "session", "list", "--json"]);
  const { sessions } = JSON.parse(listed.stdout) as { sessions: { key: string; sessionId: string; file: string }[] };
  const folder = join(home, "agents", "main", "sessions");
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".jsonl")).toSorted();
  const files = names.filter((name) => !name.startsWith("sessions."));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return {
    rows: sessions.map(({ file: _file, ...row }) => row),
    files,
    texts,
    left: names.filter((name) => /\.new$/.test(name)),
  };
}

test.each([
  [
    "sessions.json",
    async (root: string): Promise<undefined> => void (await jsonHome(root)),
    ["keeping:after-link#2", "keeping:before-link#3"],
  ],
  ["SQLite", sqliteHome, ["index:before-write#1", "keeping:before-link#3"]],
] as const)(
  "%s: killed and run again it is as if it had never been killed, and the source is as it was",
  async (_name, make, points) => {
    await using dir = await temporaryDirectory();
    const from = join(dir.path, "openclaw");
    using _open: Disposable = (await make(from)) ?? { [Symbol.dispose]() {} };
    const before = await hashesOf(from);
    const once = join(dir.path, "once");
    await runHere(["--home", once, "migrate", "openclaw", from]);
    const killed = join(dir.path, "killed");
    const args = ["--home", killed, "migrate", "openclaw", from, "--json"];
    for (const point of points) {
      const ran = await runCli(args, { env: { HOLDFAST_FAULT: `kill@${point}` } });
      expect(ran.signal, point).toBe("SIGKILL");
    }
    expect((await runHere(args)).code).toBeLessThanOrEqual(3);
    expect(await contentOf(killed)).toEqual(await contentOf(once));
    expect(await hashesOf(from)).toEqual(before);
  },
);

test("settings of conversations become a holdfast.json where there is none, and a proposal where there is", async () => {
  await using dir = await temporaryDirectory();
  const from = join(dir.path, "openclaw");
  await jsonHome(from);
  const config =
    "{ session: { dmScope: 'per-peer', reset: { atHour: 6 }, scope: 'global' }, channels: { x: { token: 'geheim' } } }";
  await writeFile(join(from, "openclaw.json"), config);
  const home = join(dir.path, "home");
  const run = (...more: string[]) => runHere(["--home", home, "migrate", "openclaw", from, ...more]);
  const file = join(home, "holdfast.json");
  const first = await run("--json");
  // Two rows name no transcript: that is what the exit code says.
  expect(first.code).toBe(3);
  expect(JSON.parse(first.stdout).settings).toMatchObject({
    file,
    carried: [
      { from: "session.reset", to: "sessions.reset" },
      { from: "session.dmScope", to: "sessions.dmScope" },
    ],
    left: [{ from: "session.scope" }, { from: "channels" }],
  });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    sessions: { dmScope: "per-peer", reset: { mode: "daily", atHour: 6 } },
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await runHere(["--home", home, "config", "check"])).code).toBe(0);
  expect(JSON.parse((await run("--json")).stdout).settings.file).toBe(file);
  await writeFile(file, "{ /* mine */ }");
  const { stdout } = await run();
  expect(stdout).toMatch(/stays as it is[\s\S]*"dmScope": "per-peer"[\s\S]*not carried session\.scope:/);
  expect(stdout).not.toContain("geheim");
  expect(await readFile(file, "utf8")).toBe("{ /* mine */ }");
  for (const line of stdout.split("\n").slice(0, 2))
    expect(line).toMatch(/^carried over {2}3 conversations|^archived {2}2 transcripts/);
});

test("a home of OpenClaw as our home is refused, and the way is named", async () => {
  await using dir = await temporaryDirectory();
  await jsonHome(dir.path);
  const { code, stderr } = await runHere(["--home", dir.path, "session", "list"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("migrate openclaw")]);
});
