/** What retention may destroy: only archived background work, only when it is old, and never what is still open. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openSessions, type Sessions } from "@holdfast/sessions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, call, user } from "../support/entries.ts";
import { type MovableWorld, movableWorld } from "../support/worlds.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const POLICY = { maxAgeMs: 30 * DAY_MS, maxBytes: null, backgroundMax: null, archiveMaxAgeMs: 30 * DAY_MS };
const CRON = "agent:main:cron:news";
let directory: TestDirectory;
let world: MovableWorld;
let sessions: Sessions;

beforeEach(async () => {
  directory = await testDirectory();
  world = movableWorld();
  sessions = await openSessions({ directory: directory.path }, world);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

async function talk(key: string): Promise<string> {
  await using session = await sessions.open(key);
  await session.append([user("hello"), answer("yes")]);
  await sessions.update(key, { lastInteractionAt: world.nowMs() });
  return session.id;
}
const archive = async (): Promise<string[]> => (await readdir(join(directory.path, "archive"))).toSorted();

test("old archives of background work go, with their rows; those of people stay, also ended ones", async () => {
  const ids = [await talk("agent:main:main"), await talk("agent:main:ended")];
  await talk(CRON);
  await talk("agent:main:subagent:1");
  await sessions.keep.clear("agent:main:ended");
  await sessions.keep.clear("agent:main:subagent:1");
  world.advance(31 * DAY_MS);
  const first = await sessions.keep.cleanup(POLICY);
  expect([first.archived.length, first.deleted.map(({ key }) => key)]).toEqual([2, ["agent:main:subagent:1"]]);
  world.advance(31 * DAY_MS);

  const before = await archive();
  const dry = await sessions.keep.cleanup(POLICY, { dryRun: true });
  expect(await archive()).toEqual(before);
  const report = await sessions.keep.cleanup(POLICY);
  expect(report.deleted).toEqual(dry.deleted);
  expect(report.deleted).toMatchObject([{ key: CRON, bytes: expect.any(Number) }]);
  expect((await sessions.list()).map(({ key }) => key)).toEqual(["agent:main:main"]);
  expect((await archive()).map((name) => name.split(".")[0]).toSorted()).toEqual(ids.toSorted());
  expect((await sessions.keep.cleanup(POLICY)).deleted).toEqual([]);
  // The key of what was destroyed is free, and begins anew.
  expect((await (await sessions.open(CRON)).context()).messages).toEqual([]);
});

test("without the setting nothing is destroyed, however old", async () => {
  await talk(CRON);
  world.advance(400 * DAY_MS);
  await sessions.keep.cleanup({ ...POLICY, archiveMaxAgeMs: null });
  world.advance(400 * DAY_MS);
  const { archiveMaxAgeMs: _none, ...policy } = POLICY;
  expect((await sessions.keep.cleanup(policy)).deleted).toEqual([]);
  expect(await archive()).toHaveLength(1);
});

test("what is open, pinned or awake again stays and says why", async () => {
  await talk(CRON);
  await talk("agent:main:cron:pinned");
  await (await sessions.open("agent:main:cron:open")).append([user("x"), { ...call("c1"), id: "a" }]);
  await talk("agent:main:cron:awake");
  world.advance(31 * DAY_MS);
  // A person may end what has an open call; whether the action happened stays unknown, so its record stays.
  await sessions.keep.clear("agent:main:cron:open");
  await sessions.keep.cleanup(POLICY);
  await sessions.update("agent:main:cron:pinned", { pinned: true });
  await (await sessions.open("agent:main:cron:awake")).close();
  world.advance(31 * DAY_MS);
  const report = await sessions.keep.cleanup({ ...POLICY, maxAgeMs: null });
  expect(report.deleted.map(({ key }) => key)).toEqual([CRON]);
  expect(Object.fromEntries(report.kept.map(({ key, why }) => [key, why]))).toEqual({
    "agent:main:cron:open": "open_calls",
    "agent:main:cron:pinned": "pinned",
  });
  expect(await sessions.get("agent:main:cron:awake")).toBeDefined();
});

test("its signal ends a round between two conversations; the next one does the rest", async () => {
  for (const name of ["a", "b", "c"]) await talk(`agent:main:${name}`);
  world.advance(31 * DAY_MS);
  const over = new AbortController();
  const asked: string[] = [];
  const isAwaited = async (key: string): Promise<boolean> => {
    asked.push(key);
    // The plan asks about all three; the fourth question stands before the first act.
    if (asked.length === 4) over.abort();
    return false;
  };
  const first = await sessions.keep.cleanup(POLICY, { isAwaited, signal: over.signal });
  expect([first.archived.length, first.ended]).toEqual([1, true]);
  const second = await sessions.keep.cleanup(POLICY);
  expect([second.archived.length, second.ended]).toEqual([2, false]);
  const aborted = await sessions.keep.cleanup(POLICY, { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ archived: [], finished: [], packed: 0, ended: true });
});
