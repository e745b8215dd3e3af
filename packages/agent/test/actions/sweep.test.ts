/** What is removed of ended actions, and what never is. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identityOf, tryFileLock } from "@holdfast/base";
import { expect, onTestFinished, test } from "vitest";
import { diskFolders } from "../../src/actions/folder.ts";
import { sweepActions } from "../../src/actions/sweep.ts";
import { backgroundCommands, noteBackground } from "../../src/tools/exec/background.ts";

const keyOf = (digit: string): string => digit.repeat(64);
const LIMIT = 1_000_000_000_000;

async function actionsWith(keys: readonly { readonly key: string; readonly endedMs: number | null }[]) {
  const actions = await mkdtemp(join(tmpdir(), "holdfast-actions-"));
  onTestFinished(() => rm(actions, { recursive: true, force: true }));
  const folders = diskFolders(actions);
  for (const { key, endedMs } of keys) {
    using _lock = await folders.lock(key, "me");
    writeFileSync(join(await folders.makeAttempt(key, 1), "output"), "said");
    if (endedMs === null) continue;
    await folders.ended!(key);
    utimesSync(join(actions, key, "ended"), endedMs / 1000, endedMs / 1000);
  }
  const sweep = () => sweepActions(actions, { endedBeforeMs: LIMIT, signal: new AbortController().signal });
  return { actions, folders, sweep };
}

test("what ended before the limit goes; what ended later, or has no result, stays whole", async () => {
  const { actions, sweep } = await actionsWith([
    { key: keyOf("a"), endedMs: LIMIT - 1000 },
    { key: keyOf("b"), endedMs: LIMIT + 1000 },
    { key: keyOf("c"), endedMs: null },
  ]);
  expect(await sweep()).toBe(1);
  expect(readdirSync(actions).sort()).toEqual([keyOf("b"), keyOf("c")]);
  expect(existsSync(join(actions, keyOf("c"), "1", "output"))).toBe(true);
  expect(await sweep()).toBe(0);
});

test("the record of a business act stays, and still says what is known", async () => {
  const { actions, folders, sweep } = await actionsWith([{ key: keyOf("a"), endedMs: LIMIT - 1000 }]);
  await folders.addToRecord(keyOf("a"), "{}\n");
  expect(await sweep()).toBe(1);
  expect(readdirSync(join(actions, keyOf("a"))).sort()).toEqual(["lock", "record.jsonl"]);
  expect(await folders.readRecord(keyOf("a"))).toBe("{}\n");
});

test("what somebody works on is left alone, and so is what is no action", async () => {
  const { actions, sweep } = await actionsWith([{ key: keyOf("a"), endedMs: LIMIT - 1000 }]);
  mkdirSync(join(actions, "notes"));
  writeFileSync(join(actions, "notes", "ended"), "");
  utimesSync(join(actions, "notes", "ended"), 1, 1);
  using lock = tryFileLock(join(actions, keyOf("a"), "lock"));
  lock!.note(identityOf("other"));
  expect(await sweep()).toBe(0);
  expect(existsSync(join(actions, keyOf("a"), "1", "output"))).toBe(true);
  expect(existsSync(join(actions, "notes"))).toBe(true);
});

test("a background command whose folder is gone is not listed any more", async () => {
  const { actions, folders, sweep } = await actionsWith([
    { key: keyOf("a"), endedMs: LIMIT - 1000 },
    { key: keyOf("b"), endedMs: LIMIT + 1000 },
  ]);
  for (const digit of ["a", "b"])
    await noteBackground(folders.attempt(keyOf(digit), 1), { command: digit, startedMs: 1 });
  await sweep();
  expect((await backgroundCommands(actions)).map(({ command }) => command)).toEqual(["b"]);
});

test("a home without actions has nothing to sweep", async () => {
  const signal = new AbortController().signal;
  expect(await sweepActions("/nonexistent/actions", { endedBeforeMs: LIMIT, signal })).toBe(0);
});
