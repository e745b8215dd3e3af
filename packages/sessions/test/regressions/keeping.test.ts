/** Lost histories, swollen indexes and left-over files of others; ids as in the collection of cases. */
import { copyFile, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMessage, openSessions, type Sessions, type SessionsProblem } from "@holdfast/sessions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, user } from "../support/entries.ts";
import { type MovableWorld, movableWorld } from "../support/worlds.ts";

const OFF = { maxAgeMs: null, maxBytes: null, backgroundMax: null };
let directory: TestDirectory;
let world: MovableWorld;
let sessions: Sessions;
let problems: SessionsProblem[];

async function openAgain(): Promise<void> {
  await sessions?.close();
  problems = [];
  sessions = await openSessions({ directory: directory.path, onProblem: (one) => void problems.push(one) }, world);
}
beforeEach(async () => {
  directory = await testDirectory();
  world = movableWorld();
  await openAgain();
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

async function talk(key: string, ...texts: readonly string[]): Promise<string> {
  await using session = await sessions.open(key);
  for (const text of texts) await session.append([user(text), answer("yes")]);
  return session.id;
}
const at = (name: string): string => join(directory.path, name);
const indexFiles = async (): Promise<string[]> =>
  (await readdir(directory.path)).filter((name) => /^sessions\.(json|journal)/.test(name));
const bytesOf = async (names: readonly string[]): Promise<number> => {
  const sizes = await Promise.all(names.map(async (name) => (await stat(at(name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

test("B001 after restarts all are listed; without the index it is made from the transcripts, and that is said", async () => {
  const keys = Array.from({ length: 5 }, (_, n) => `agent:main:telegram:direct:${n}`);
  for (const key of keys) await talk(key, "hello");
  for (const round of [1, 2]) {
    await openAgain();
    expect((await sessions.list()).map(({ key }) => key).toSorted(), `start ${round}`).toEqual(keys);
  }
  expect(await readdir(directory.path)).toContain("sessions.json.bak");
  const ids = new Map((await sessions.list()).map(({ key, row }) => [key, row.sessionId]));
  await sessions.close();
  for (const name of await indexFiles()) await rm(at(name));
  await openAgain();
  for (const { key, row } of await sessions.list()) expect(row.sessionId).toBe(ids.get(key));
  expect(await sessions.list()).toHaveLength(5);
  expect(problems.map(({ code }) => code)).toContain("rebuilt");
});

test("B004 a transcript that was copied in is found by its id", async () => {
  const id = await talk("agent:main:main", "before");
  const file = await readFile(at(`${id}.jsonl`), "utf8");
  await sessions.keep.clear("agent:main:main");
  await writeFile(at("s-9.jsonl"), file.replaceAll(id, "s-9"));
  expect(await sessions.keep.restore("s-9")).toMatchObject({ key: "agent:main:main", row: { sessionId: "s-9" } });
  await using session = await sessions.open("agent:main:main");
  expect((await session.context()).messages).toHaveLength(2);
});

test("B014 a transcript that was cut opens up to its last good line, as often as one likes, and stays listed", async () => {
  const id = await talk("agent:main:main", "one", "two");
  await sessions.close();
  await truncate(at(`${id}.jsonl`), (await stat(at(`${id}.jsonl`))).size - 20);
  for (let round = 0; round < 2; round++) {
    await openAgain();
    await using session = await sessions.open("agent:main:main");
    expect((await session.context()).messages).toHaveLength(3);
    expect(session.report.damaged).toHaveLength(1);
    expect(await sessions.list()).toHaveLength(1);
  }
});

test("B126 a row stays small, and an update writes no more among many than among few", async () => {
  const updateBytes = async (): Promise<number> => {
    const before = await bytesOf(await indexFiles());
    await sessions.update("agent:main:n1", { status: "done", inputTokens: 123 });
    return (await bytesOf(await indexFiles())) - before;
  };
  await talk("agent:main:n1", "x".repeat(60 * 1024));
  const among1 = await updateBytes();
  for (let n = 2; n <= 100; n++) await talk(`agent:main:n${n}`, "x".repeat(60 * 1024));
  const among100 = await updateBytes();
  expect(among100).toBeLessThanOrEqual(among1 + 64);
  const rows = await sessions.list();
  const bytes = rows.map(({ key, row }) => Buffer.byteLength(JSON.stringify({ [key]: row })));
  expect(Math.max(...bytes)).toBeLessThan(2048);
}, 20_000);

test("B128 scheduled runs keep a bounded number of rows; people's conversations are never among what goes", async () => {
  await talk("agent:main:main", "hello");
  for (let n = 0; n < 60; n++) await talk(`agent:main:cron:daily:run:${n}`, "tick");
  const report = await sessions.keep.cleanup({ ...OFF, backgroundMax: 10 });
  expect(report.cleared).toHaveLength(50);
  const left = await sessions.list();
  expect(left).toHaveLength(11);
  expect(left.map(({ key }) => key)).toContain("agent:main:main");
  expect(await readdir(at("archive"))).toHaveLength(50);
}, 20_000);

test("B130 a transcript of 80 MB with long lines is opened and written to in a process that has 64 MB", async () => {
  const key = "agent:main:main";
  const id = await talk(key, "hello");
  const time = "2026-01-05T09:00:00.000Z";
  let parentId: string | null = null;
  const file = await open(at(`${id}.jsonl`), "a");
  for (let n = 0; n < 9500; n++) {
    const content = "x".repeat(n % 1000 === 0 ? 660_000 : 7800);
    const message = { role: "user", content };
    await file.appendFile(`${JSON.stringify({ type: "message", id: `m${n}`, parentId, timestamp: time, message })}\n`);
    parentId = `m${n}`;
  }
  const kept = { summary: "all", firstKeptEntryId: "m9490", tokensBefore: 1 };
  await file.appendFile(`${JSON.stringify({ type: "compaction", id: "c", parentId, timestamp: time, ...kept })}\n`);
  await file.close();
  expect((await stat(at(`${id}.jsonl`))).size).toBeGreaterThan(75_000_000);
  const env = { NODE_OPTIONS: "--max-old-space-size=64" };
  const ended = await runChild("./appender.ts", [directory.path, key, "0", "1"], { env });
  expect(ended).toMatchObject({ code: 0, lines: [`session ${id}`, "ack 0"] });
}, 30_000);

test("B132 transcripts without a row are counted, put away and not deleted; the second run does nothing", async () => {
  const id = await talk("agent:main:main", "hello");
  for (let n = 0; n < 5; n++) await sessions.keep.reset("agent:main:main");
  await copyFile(at(`archive/${(await readdir(at("archive")))[0]}`), at("kept.gz"));
  for (const n of [1, 2, 3]) {
    const file = at(`failed-${n}.jsonl`);
    const about = { type: "custom", customType: "holdfast:session", data: { key: `agent:main:run${n}` }, id: "a1" };
    await writeFile(file, `${JSON.stringify({ ...about, parentId: null, timestamp: "2026-01-05T09:00:00.000Z" })}\n`);
  }
  world.advance(2 * 60 * 60 * 1000);
  const count = async () =>
    (await readdir(directory.path, { recursive: true })).filter((name) => /\.jsonl(\.gz)?$/.test(name)).length;
  const before = await count();
  expect((await sessions.keep.cleanup(OFF, { dryRun: true })).orphans).toHaveLength(3);
  const { orphans } = await sessions.keep.cleanup(OFF);
  expect(orphans.map(({ outcome }) => outcome)).toEqual(["archived", "archived", "archived"]);
  expect(await count()).toBe(before);
  expect((await sessions.keep.cleanup(OFF)).orphans).toEqual([]);
  const row = await sessions.get("agent:main:main");
  expect(row?.sessionId).not.toBe(id);
  expect(await talk("agent:main:main", "still here")).toBe(row?.sessionId);
}, 20_000);

test("B134 what was closed is let go: nothing of it is held by the store", async () => {
  const session = await sessions.open("agent:main:main");
  await session.append(user("x".repeat(100_000)));
  const held = new WeakRef(session.path());
  await session.close();
  await sessions.update("agent:main:main", { status: "done" });
  const again = await sessions.open("agent:main:main");
  expect(again).not.toBe(session);
  expect(again.path()).not.toBe(held.deref());
  await again.close();
});

test("B136 a context holds the messages themselves: nothing that the model does not see is copied", async () => {
  await using session = await sessions.open("agent:main:main");
  for (let n = 0; n < 24; n++) {
    const message = { role: "user", content: `n${n}`, private: "x".repeat(100_000) };
    await session.append({ type: "message", message });
  }
  const { messages } = await session.context();
  const stored = session.path().flatMap((entry) => (isMessage(entry) ? [entry.message] : []));
  expect(messages).toHaveLength(24);
  expect(messages.every((message, n) => message === stored[n])).toBe(true);
});
