/** Retention carried out over real files: what goes, what stays and why, and that a second run has nothing to do. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { keepTidy, openSessions, type CleanupReport, type Sessions } from "@holdfast/sessions";
import { realWorld } from "@holdfast/base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, call, user } from "../support/entries.ts";
import { type MovableWorld, movableWorld } from "../support/worlds.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const POLICY = { maxAgeMs: 30 * DAY_MS, maxBytes: null, backgroundMax: null };
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

async function talk(key: string, text = "hello"): Promise<string> {
  await using session = await sessions.open(key);
  await session.append([user(text), answer("yes")]);
  await sessions.update(key, { lastInteractionAt: world.nowMs() });
  return session.id;
}
const keysOf = (list: readonly { readonly key: string }[]): string[] => list.map(({ key }) => key).toSorted();
const files = async (): Promise<string[]> =>
  (await readdir(directory.path, { recursive: true })).filter((name) => /\.jsonl(\.gz)?$/.test(name)).toSorted();

test("a message on day 31 brings back what went on day 30, and the conversation goes on", async () => {
  const id = await talk("agent:main:main", "remember me");
  world.advance(31 * DAY_MS);
  await talk("agent:main:other");
  const report = await sessions.keep.cleanup(POLICY);
  expect(report.archived).toMatchObject([{ key: "agent:main:main", why: "age" }]);
  expect((await sessions.list()).map(({ key }) => key).toSorted()).toEqual(["agent:main:main", "agent:main:other"]);
  await using again = await sessions.open("agent:main:main");
  await again.append(user("and now?"));
  expect(again.id).toBe(id);
  expect((await again.context()).messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test("a dry run says the same and writes nothing", async () => {
  await talk("agent:main:main");
  world.advance(31 * DAY_MS);
  const before = await files();
  const dry = await sessions.keep.cleanup(POLICY, { dryRun: true });
  expect(await files()).toEqual(before);
  const real = await sessions.keep.cleanup(POLICY);
  expect([dry.archived, dry.kept, dry.bytesAfter]).toEqual([real.archived, real.kept, real.bytesAfter]);
  expect(real.archived).toHaveLength(1);
  expect(await sessions.keep.cleanup(POLICY)).toMatchObject({
    archived: [],
    kept: [],
    orphans: [],
    finished: [],
    packed: 0,
  });
});

test("what somebody waits for stays, also when they came between the plan and the act", async () => {
  for (const name of ["early", "late", "free"]) await talk(`agent:main:${name}`);
  world.advance(31 * DAY_MS);
  const asked: string[] = [];
  const isAwaited = async (key: string): Promise<boolean> => {
    const isSecond = asked.includes(key);
    asked.push(key);
    return key.endsWith("early") || (key.endsWith("late") && isSecond);
  };
  const report = await sessions.keep.cleanup(POLICY, { isAwaited });
  expect(keysOf(report.archived)).toEqual(["agent:main:free"]);
  expect(keysOf(report.kept)).toEqual(["agent:main:early", "agent:main:late"]);
  expect(report.kept.map(({ why }) => why)).toEqual(["awaited", "awaited"]);
});

test("what runs, is pinned, or waits stays and is named with its reason", async () => {
  for (const name of ["running", "pinned", "calls", "asked", "free"]) await talk(`agent:main:${name}`);
  await sessions.update("agent:main:pinned", { pinned: true });
  await (await sessions.open("agent:main:calls")).append({ ...call("c1"), id: "a" });
  const asked = { type: "custom", customType: "holdfast:approval", data: { key: "k", digest: "d", asked: 1 } };
  await (await sessions.open("agent:main:asked")).append(asked);
  world.advance(31 * DAY_MS);
  await (await sessions.open("agent:main:running")).claimTurn("somebody", 60_000);
  const report = await sessions.keep.cleanup(POLICY);
  expect(keysOf(report.archived)).toEqual(["agent:main:free"]);
  expect(Object.fromEntries(report.kept.map(({ key, why }) => [key.slice(11), why]))).toEqual({
    running: "running",
    pinned: "pinned",
    calls: "open_calls",
    asked: "open_approvals",
  });
});

test("by size the oldest go first, only live transcripts count, and blocked ones are passed over", async () => {
  for (const n of [1, 2, 3, 4]) {
    await talk(`agent:main:n${n}`, "x".repeat(10_000));
    world.advance(1000);
  }
  await (await sessions.open("agent:main:n1")).append({ ...call("c1"), id: "a" });
  const report = await sessions.keep.cleanup({ ...POLICY, maxBytes: 25_000 });
  expect(keysOf(report.archived)).toEqual(["agent:main:n2", "agent:main:n3"]);
  expect(report.liveBytes).toBeGreaterThan(40_000);
  expect(report.bytesAfter).toBeLessThanOrEqual(25_000);
  expect((await sessions.keep.cleanup({ ...POLICY, maxBytes: 25_000 })).archived).toEqual([]);
});

test("a file of another program is never an orphan; one of ours without a row is, once it is old", async () => {
  await talk("agent:main:main");
  await writeFile(
    join(directory.path, "telegram_123.jsonl"),
    '{"id":"m1","role":"user","content":"hi","timestamp":1}\n',
  );
  const lines = `{"type":"session","version":3,"id":"lost","timestamp":"2026-01-05T09:00:00.000Z"}\n${JSON.stringify({
    type: "custom",
    customType: "holdfast:session",
    data: { key: "agent:main:lost" },
    id: "a1",
    parentId: null,
    timestamp: "2026-01-05T09:00:00.000Z",
  })}\n`;
  await writeFile(join(directory.path, "lost.jsonl"), lines);
  expect((await sessions.keep.cleanup(POLICY)).orphans).toEqual([]);
  world.advance(2 * 60 * 60 * 1000);
  expect((await sessions.keep.cleanup(POLICY)).orphans).toEqual([
    { file: "lost.jsonl", key: "agent:main:lost", outcome: "archived" },
  ]);
  expect(await files()).toContain("telegram_123.jsonl");
  expect((await sessions.keep.restore("lost")).key).toBe("agent:main:lost");
});

test("in the background it begins at once, and its end ends the round that runs and waits for it", async () => {
  for (const name of ["a", "b"]) await talk(`agent:main:${name}`);
  world.advance(31 * DAY_MS);
  const onError = (error: unknown): never => {
    throw error;
  };
  const told = (): { readonly report: Promise<CleanupReport>; onReport(report: CleanupReport): void } => {
    const { promise, resolve } = Promise.withResolvers<CleanupReport>();
    return { report: promise, onReport: resolve };
  };
  const at = { ...realWorld(), nowMs: world.nowMs };
  const stopped = told();
  const begun = Promise.withResolvers<void>();
  const isAwaited = async (): Promise<boolean> => {
    begun.resolve();
    return false;
  };
  const first = keepTidy(sessions, at, { policy: POLICY, everyMs: 60_000, onError, ...stopped, isAwaited });
  await begun.promise;
  await first[Symbol.asyncDispose]();
  expect(await stopped.report).toMatchObject({ archived: [], ended: true });
  const whole = told();
  await using _second = keepTidy(sessions, at, { policy: POLICY, everyMs: 60_000, onError, ...whole });
  expect(keysOf((await whole.report).archived)).toEqual(["agent:main:a", "agent:main:b"]);
});
