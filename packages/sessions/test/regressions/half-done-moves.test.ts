/**
 * What a kill, a refusal or a power loss leaves of conversations that were on their way into the archive or out of it. Each
 * case was found on the simulated disk (packages/sim) and is built here on real files.
 */
import { appendFile, link, mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Sessions } from "@holdfast/sessions";
import { type Disk, openSessionsOn } from "@holdfast/sessions/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSource } from "../../src/reading/source.ts";
import { realDisk } from "../../src/stores/file/disk.ts";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { user } from "../support/entries.ts";
import { type MovableWorld, movableWorld } from "../support/worlds.ts";

const KEY = "agent:main:main";
const HOUR_MS = 60 * 60 * 1000;
const NOTHING_DUE = { maxAgeMs: null, maxBytes: null, backgroundMax: null };
let directory: TestDirectory;
let world: MovableWorld;
let sessions: Sessions;
/** What was done to names, in order; and what is to be refused next. */
let steps: string[];
let refused: RegExp | undefined;

beforeEach(async () => {
  directory = await testDirectory();
  world = movableWorld();
  steps = [];
  refused = undefined;
  sessions = await openSessionsOn(watched(), { directory: directory.path }, world);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

function watched(): Disk {
  const step = async (what: string, work: () => Promise<void>): Promise<void> => {
    const isRefused = refused?.test(what) === true;
    if (isRefused) refused = undefined;
    if (isRefused) throw Object.assign(new Error(`EIO: ${what}`), { code: "EIO" });
    await work();
    steps.push(what);
  };
  return {
    ...realDisk,
    async open(path, mode) {
      const file = await realDisk.open(path, mode);
      return {
        read: (...args) => file.read(...args),
        write: (...args) => file.write(...args),
        stat: (options) => file.stat(options),
        datasync: () => step(`datasync ${inside(path)}`, () => file.datasync()),
        sync: () => file.sync(),
        close: () => file.close(),
        [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
      };
    },
    link: (from, to) => step(`link ${inside(to)}`, () => realDisk.link(from, to)),
    syncDirectory: (path) => step(`sync ${inside(path)}`, () => realDisk.syncDirectory(path)),
    remove: (path) => step(`remove ${inside(path)}`, () => realDisk.remove(path)),
  };
}

const inside = (path: string): string => path.slice(directory.path.length + 1) || ".";
const at = (name: string): string => join(directory.path, name);
const archived = async (): Promise<string[]> => (await readdir(at("archive"))).toSorted();

async function talk(text = "remember me"): Promise<string> {
  await using session = await sessions.open(KEY);
  await session.append(user(text));
  return session.id;
}

async function said(): Promise<unknown[]> {
  await using session = await sessions.open(KEY);
  return (await session.context()).messages.map((message) => "content" in message && message.content);
}

test("a way back that was refused the sync of its name is made durable before its packed copy goes", async () => {
  await talk();
  await sessions.keep.archive(KEY);
  refused = /^sync \.$/;
  await expect(sessions.keep.restore(KEY)).rejects.toMatchObject({ code: "write_failed" });
  steps.length = 0;
  await sessions.keep.restore(KEY);
  const synced = steps.indexOf("sync .");
  const removed = steps.findIndex((one) => /^remove archive\/.*\.gz$/.test(one));
  expect(synced).toBeGreaterThanOrEqual(0);
  expect(removed).toBeGreaterThan(synced);
  expect(steps.slice(removed)).toContain("sync archive");
});

test("a way into the archive that was refused its sync is made durable before it is packed", async () => {
  await talk();
  refused = /^sync archive$/;
  await expect(sessions.keep.archive(KEY)).rejects.toMatchObject({ code: "write_failed" });
  steps.length = 0;
  await sessions.keep.archive(KEY);
  expect(steps.indexOf("sync .")).toBeLessThan(steps.findIndex((one) => /^remove archive\/.*\.jsonl$/.test(one)));
  expect(steps).toContain("sync .");
});

test("a move has its new name on the disk before the old one goes, and the old one gone before anybody is told", async () => {
  const id = await talk();
  await sessions.keep.archive(KEY);
  const gone = steps.indexOf(`remove ${id}.jsonl`);
  expect(gone).toBeGreaterThan(0);
  expect([steps[gone - 1], steps[gone + 1]]).toEqual(["sync archive", "sync ."]);
});

test("a name is made from a closing line only once that line is on the disk, whoever wrote it", async () => {
  const id = await talk();
  const log = at(`${id}.jsonl`);
  const last = JSON.parse((await readFile(log, "utf8")).trimEnd().split("\n").at(-1)!) as { id: string };
  const data = { reason: "archive" };
  const closed = { type: "custom", customType: "holdfast:closed", data, id: "c105ed0000000001", parentId: last.id };
  await appendFile(log, `${JSON.stringify({ ...closed, timestamp: new Date(world.nowMs()).toISOString() })}\n`);
  steps.length = 0;
  await sessions.keep.archive(KEY);
  const linked = steps.findIndex((one) => one.startsWith("link archive/"));
  expect(linked).toBeGreaterThan(0);
  expect(steps.slice(0, linked)).toContain(`datasync ${id}.jsonl`);
});

test("a conversation that was spoken to while it was put away is no orphan", async () => {
  const id = await talk();
  await sessions.keep.archive(KEY);
  const [name = ""] = await archived();
  await writeFile(at(`${id}.jsonl`), gunzipSync(await readFile(at(`archive/${name}`))));
  world.advance(2 * HOUR_MS);
  const { orphans, finished } = await sessions.keep.cleanup(NOTHING_DUE);
  expect([orphans, finished]).toEqual([[], [KEY]]);
  expect(await sessions.get(KEY)).toMatchObject({ sessionId: id, sessionFile: `${id}.jsonl` });
  expect(await archived()).toEqual([]);
  expect(await said()).toEqual(["remember me"]);
});

test("a transcript under both names loses the one in the archive", async () => {
  const id = await talk();
  await mkdir(at("archive"));
  await link(at(`${id}.jsonl`), at(`archive/${id}.archive.20260101T000000000Z.jsonl`));
  await sessions.keep.cleanup(NOTHING_DUE);
  expect(await archived()).toEqual([]);
  expect(await said()).toEqual(["remember me"]);
});

test("a packed copy of the beginning goes when its conversation is live; one that is another stays", async () => {
  const id = await talk();
  const beginning = await readFile(at(`${id}.jsonl`));
  await talk("more");
  await mkdir(at("archive"));
  const names = ["archive.20260101T000000000Z", "clear.20250101T000000000Z"].map((name) => `${id}.${name}.jsonl.gz`);
  await writeFile(at(`archive/${names[0]}`), gzipSync(beginning));
  await writeFile(at(`archive/${names[1]}`), gzipSync("another history\n"));
  await sessions.keep.cleanup(NOTHING_DUE);
  expect(await archived()).toEqual([names[1]]);
});

test("what is taken back by its id takes its packed copy along, also when it had been live already", async () => {
  const id = await talk();
  await sessions.keep.clear(KEY);
  const [name = ""] = await archived();
  await writeFile(at(`${id}.jsonl`), gunzipSync(await readFile(at(`archive/${name}`))));
  await sessions.keep.restore(id);
  expect(await archived()).toEqual([]);
  expect(await said()).toEqual(["remember me"]);
});

test("a new row of a copy, or of what was taken back, is made durable by whoever opens it first", async () => {
  const id = await talk();
  const copy = "agent:main:cli:direct:copy";
  await sessions.keep.fork(KEY, copy);
  expect(await sessions.get(copy)).toMatchObject({ state: "opening" });
  await (await sessions.open(copy)).close();
  expect(await sessions.get(copy)).not.toHaveProperty("state");
  await sessions.keep.clear(KEY);
  await sessions.keep.restore(id);
  expect(await sessions.get(KEY)).toMatchObject({ state: "opening" });
  expect(await said()).toEqual(["remember me"]);
  expect(await sessions.get(KEY)).not.toHaveProperty("state");
});

test("what killed writers left aside goes after an hour; a file of somebody else stays", async () => {
  const id = await talk();
  await mkdir(at("archive"));
  const scrap = ["a.jsonl.new", "a.jsonl.b81c.new", "a.idx.new", "archive/a.gz.new", "archive/a.gz.plain.new"];
  for (const name of [...scrap, "young.jsonl.new", "notes.new"]) await writeFile(at(name), "half of it");
  const longAgo = new Date(world.nowMs() - 2 * HOUR_MS);
  for (const name of [...scrap, "notes.new"]) await utimes(at(name), longAgo, longAgo);
  await sessions.keep.cleanup(NOTHING_DUE, { dryRun: true });
  expect(await archived()).toHaveLength(2);
  await sessions.keep.cleanup(NOTHING_DUE);
  const left = (await readdir(directory.path, { recursive: true })).filter((name) => name.endsWith(".new"));
  expect(left.toSorted()).toEqual(["notes.new", "young.jsonl.new"]);
  expect(await readdir(directory.path)).toContain(`${id}.jsonl`);
});

test("a row whose line feed is missing is no row, neither before nor after somebody writes on", async () => {
  const id = await talk();
  await sessions.close();
  const torn = JSON.stringify({ key: KEY, entry: { sessionId: "other", sessionFile: "other.jsonl" } });
  const journal = (await readdir(directory.path)).find((name) => name.startsWith("sessions.journal-"));
  expect(journal).toBeDefined();
  await writeFile(at(journal ?? ""), torn, { flag: "a" });
  sessions = await openSessionsOn(realDisk, { directory: directory.path, onProblem: () => {} }, world);
  expect(await sessions.get(KEY)).toMatchObject({ sessionId: id });
  await (await sessions.open("agent:main:other")).close();
  await using another = await openSessionsOn(realDisk, { directory: directory.path, onProblem: () => {} }, world);
  expect(await another.get(KEY)).toMatchObject({ sessionId: id });
});

test("a disk that cannot say what a transcript is, is an error of ours", async () => {
  const id = await talk();
  const broken: Disk = {
    ...realDisk,
    open: async (...given) => {
      const file = await realDisk.open(...given);
      const stat = async (): Promise<never> => {
        throw Object.assign(new Error("EIO"), { code: "EIO" });
      };
      return {
        read: file.read,
        write: file.write,
        datasync: file.datasync,
        sync: file.sync,
        stat,
        close: () => file.close(),
        [Symbol.asyncDispose]: () => file.close(),
      };
    },
  };
  await expect(openSource(at(`${id}.jsonl`), broken)).rejects.toMatchObject({ code: "read_failed" });
});
