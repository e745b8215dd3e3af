/**
 * The demo, judged by facts from outside: this process watches the folder and reads the files; what the demo says of itself is
 * compared with that.
 */
import { existsSync, statSync, watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { livenessOf, parseIdentity } from "@holdfast/base";
import { describe, expect, test, vi } from "vitest";
import { languageOf } from "../../src/demo/demo.ts";
import { factsOf } from "../../src/demo/facts.ts";
import { type Language, MOMENTS, sceneOf } from "../../src/demo/scene.ts";
import { finished, runCli, startCli, temporaryDirectory } from "../support/cli.ts";

// Several processes in each test: on a busy machine they are slow, not wrong.
vi.setConfig({ testTimeout: 120_000 });

const VERDICTS = {
  "after-effect": "happened",
  "inside-effect": "absent",
  "before-effect": "absent",
  "before-intent": "not_started",
};

interface Watched {
  /** Notices of the kernel that the to-do file was put in place. */
  readonly placed: () => number;
  readonly inodes: ReadonlySet<bigint>;
  readonly close: () => void;
}

/** Waits for the demo's folder of notes to appear under `root`, then watches it. */
async function watchNotes(root: string, directory: string, file: string): Promise<Watched> {
  const notes = await vi.waitFor(
    async () => {
      const [home] = await readdir(root);
      const path = join(root, home ?? "none", "home", "workspace", directory);
      expect(existsSync(path)).toBe(true);
      return path;
    },
    { timeout: 60_000, interval: 5 },
  );
  const inodes = new Set<bigint>();
  const counted = { placed: 0 };
  const watcher = watch(notes, (event, name) => {
    const there = statSync(join(notes, file), { bigint: true, throwIfNoEntry: false });
    if (name !== file || there === undefined) return;
    inodes.add(there.ino);
    if (event === "rename") counted.placed += 1;
  });
  return { placed: () => counted.placed, inodes, close: () => watcher.close() };
}

async function playedAndWatched(seed: number, language: Language): Promise<void> {
  await using tmp = await temporaryDirectory();
  const scene = sceneOf(seed, language);
  const file = basename(scene.todoPath);
  const child = startCli(["demo", "--seed", String(seed), "--lang", language, "--json"], { TMPDIR: tmp.path });
  const ending = finished(child);
  const watched = await watchNotes(tmp.path, scene.directory, file);
  const { code, stdout, stderr } = await ending;
  watched.close();
  const said = JSON.parse(stdout);
  expect({ code, stderr, wrong: said.wrong }).toEqual({ code: 0, stderr: "", wrong: [] });
  expect({ placed: watched.placed(), inodes: watched.inodes.size }).toEqual({ placed: 1, inodes: 1 });
  const verdict = VERDICTS[scene.moment.name];
  expect(said).toMatchObject({ ok: true, killed: true, writes: 1, verdict, seed, moment: scene.moment.name });
  if (verdict === "happened") expect(said.evidence.now.inode).toBe(String([...watched.inodes][0]));
  expect(said.answer).toContain(scene.items[scene.asked]);
  const transcript = await readFile(said.transcript, "utf8");
  expect(factsOf(transcript)).toMatchObject({ verdict, results: 1, intents: verdict === "absent" ? 2 : 1 });
  expect((await runCli(["transcript", "verify", said.transcript])).code).toBe(0);
  expect(await readdir(tmp.path)).toHaveLength(1); // the folder with the transcript, nothing else
}

const ROUNDS: readonly (readonly [seed: number, language: Language])[] = [
  [0, "zh"],
  [1, "en"],
  [1, "zh"],
  [2, "en"],
  [4, "zh"],
];
const MORE: typeof ROUNDS = Array.from(
  { length: 4 },
  (_, index) => [index + 5, index % 2 === 0 ? "en" : "zh"] as const,
);

describe("written once, and known", () => {
  test("the rounds reach every moment of the kill", () => {
    const reached = new Set(ROUNDS.map(([seed, language]) => sceneOf(seed, language).moment.name));
    expect(reached.size).toBe(Object.keys(MOMENTS).length);
  });
  test.each(ROUNDS)("seed %i in %s", playedAndWatched);
  test.runIf(process.env.HOLDFAST_LARGE === "1").each(MORE)("seed %i in %s, larger count", playedAndWatched);
});

test("the story for people, in the language of the locale; nothing is left behind", async () => {
  await using tmp = await temporaryDirectory();
  const { code, stdout } = await runCli(["demo"], { env: { TMPDIR: tmp.path, LANG: "zh_CN.UTF-8" } });
  expect(code).toBe(0);
  for (const part of [
    "kill -9",
    "结论",
    "happened",
    "刚才第二项待办，能不能再拆细一点？",
    "✓",
    "notes/todo.md 恰好写入一次",
  ]) {
    expect(stdout).toContain(part);
  }
  expect(stdout).not.toContain("\u001b");
  expect(await readdir(tmp.path)).toEqual([]);
});

test("told to stop, it takes its gateway and its home with it", async () => {
  await using tmp = await temporaryDirectory();
  const child = startCli(["demo"], { TMPDIR: tmp.path });
  const ending = finished(child);
  const gateway = await vi.waitFor(
    async () => {
      const [home] = await readdir(tmp.path);
      const note = JSON.parse(await readFile(join(tmp.path, home ?? "", "home", "home.lock"), "utf8"));
      expect(typeof note.address).toBe("string");
      return parseIdentity(note);
    },
    { timeout: 60_000, interval: 5 },
  );
  child.kill("SIGINT");
  expect((await ending).code).toBe(130);
  await vi.waitFor(() => expect(livenessOf(gateway!)).toBe("dead"));
  expect(await readdir(tmp.path)).toEqual([]);
});

test.each([
  [{}, "en"],
  [{ LANG: "zh_CN.UTF-8" }, "zh"],
  [{ LANG: "zh_CN.UTF-8", LC_ALL: "C" }, "en"],
  [{ LC_MESSAGES: "zh_TW", LANG: "en_US" }, "zh"],
  [{ LC_ALL: "", LANG: "zh_CN" }, "zh"],
])("the language of %j is %s", (env, language) => expect(languageOf(env)).toBe(language));

test.each(process.env.HOLDFAST_LARGE === "1" ? [["en"], ["zh"]] : [["zh"]])(
  "four calls that are cut off have four verdicts, and nothing is done twice, in %s",
  async (lang) => {
    await using tmp = await temporaryDirectory();
    const said = await finished(startCli(["demo", "--verdicts", "--lang", lang, "--json"], { TMPDIR: tmp.path }));
    expect({ code: said.code, stderr: said.stderr }).toEqual({ code: 0, stderr: "" });
    const { ok, verdicts } = JSON.parse(said.stdout) as {
      ok: boolean;
      verdicts: { verdict: string; result: string }[];
    };
    expect(ok).toBe(true);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["happened", "absent", "conflict", "unknown"]);
    expect(verdicts.map(({ result }) => result.startsWith("[Recovered]"))).toEqual([true, false, true, true]);
    expect(await readdir(tmp.path)).toEqual([]);
  },
);
