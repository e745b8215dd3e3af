/**
 * The lanes' file as a power loss may leave it: its write-ahead log cut at every frame and inside of frames, with the rest
 * missing, as NULs or as it was before the log began anew; and a checkpoint that got as far as any page. What opens must be
 * exactly the state after the last commit whose frames are all there: each acknowledged one, and no half of any.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import type { LaneStore } from "../../src/lanes.ts";
import { sqliteLanes } from "../../src/lane-stores/sqlite.ts";
import { temporaryHome } from "../support/home.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const START = { sessionId: "s", leaf: "l" };

const world = realWorld();

interface Commit {
  /** Bytes of the log that the commit needs, counted when it was acknowledged. */
  readonly end: number;
  readonly state: string;
}

/** Bytes from the beginning of the log that belong to its present generation: those whose salts are the header's. */
function endOf(wal: Buffer): number {
  const frame = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let end = WAL_HEADER_BYTES;
  while (end + frame <= wal.length && salt.equals(wal.subarray(end + 8, end + 16))) end += frame;
  return end;
}

/** Everything that is in the store, to be compared. */
async function stateOf(store: LaneStore): Promise<string> {
  return JSON.stringify([await store.list({ lane: "main" }), await store.list({ lane: "out" })]);
}

/** The lanes' part of a turn, one commit after the other; `done` after each. */
async function turnOf(store: LaneStore, number: number, done: () => Promise<void>): Promise<void> {
  const holder = `gateway-${number}`;
  const key = `k${number}`;
  const accepted = { lane: "main", key, queue: "q", body: { text: "x".repeat((number * 977) % 6_000) } } as const;
  const { item } = await store.enqueue(accepted, number);
  await done();
  await store.claim({ lane: "main", holder, nowMs: number, leaseMs: 10 });
  await done();
  await store.commit(holder, [{ kind: "note", id: item.id, patch: { start: START, attempts: 1 } }], number);
  await done();
  const reply = {
    lane: "out",
    key: `r${number}`,
    queue: "chat",
    body: { text: "y".repeat((number * 331) % 9_000) },
  } as const;
  const ending = { kind: "settle", id: item.id, state: "done", result: { text: "ended" } } as const;
  await store.commit(holder, [{ kind: "enqueue", item: reply }, ending], number);
  await done();
  await store.forget(number - 6);
  await done();
}

/** Plays turns and keeps what each acknowledged commit left. */
async function played(path: string, store: LaneStore, numbers: readonly number[]): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  const done = async (): Promise<void> =>
    void commits.push({ end: endOf(readFileSync(`${path}-wal`)), state: await stateOf(store) });
  for (const number of numbers) await turnOf(store, number, done);
  return commits;
}

/** What a process finds that opens these files. */
async function foundIn(folder: string, db: Buffer, wal: Buffer): Promise<string> {
  const path = join(folder, "cut.sqlite");
  writeFileSync(path, db);
  writeFileSync(`${path}-wal`, wal);
  const store = sqliteLanes(path, world);
  const state = await stateOf(store);
  const writes = await store.enqueue({ lane: "main", key: "after", queue: "other", body: {} }, 1);
  await store.close();
  expect(writes.fresh).toBe(true);
  return state;
}

/** Every frame's end, and places inside of its header and its page. */
function cutsOf(wal: Buffer, from: number, to: number): readonly number[] {
  const frame = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const ends = Array.from({ length: (to - from) / frame + 1 }, (_, index) => from + index * frame);
  const all = ends.flatMap((end) => [end, end + 10, end + FRAME_HEADER_BYTES + 100, end + frame - 1]);
  return all.filter((cut, index) => cut <= to && (isLarge || index % 9 === 0 || cut > to - frame));
}

/** As if only the first `cut` bytes had reached the disk. */
function losses(wal: Buffer, older: Buffer, cut: number): readonly (readonly [string, Buffer])[] {
  const zeros = Buffer.from(wal);
  zeros.fill(0, cut);
  const mixed = Buffer.from(wal);
  older.copy(mixed, cut, cut, Math.min(older.length, wal.length));
  return [
    ["missing", wal.subarray(0, cut)],
    ["as NULs", zeros],
    ["as before", mixed],
  ];
}

test("cut anywhere, the log gives exactly the commits whose frames are all there", { timeout: 300_000 }, async () => {
  const folder = await temporaryHome();
  const path = join(folder, "lanes.sqlite");
  const store = sqliteLanes(path, world);
  const first = await played(path, store, [1, 2, 3, 4, 5, 6, 7, 8]);
  const older = readFileSync(`${path}-wal`);
  const other = new DatabaseSync(path);
  other.exec("pragma wal_checkpoint(restart)");
  const before = { state: await stateOf(store), end: 0 };
  // The log begins anew over its old frames; the file of the database has all of the first eight turns.
  const second = await played(path, store, [9, 10, 11, 12]);
  const wal = readFileSync(`${path}-wal`);
  const db = readFileSync(path);
  let cuts = 0;
  for (const cut of cutsOf(wal, WAL_HEADER_BYTES, endOf(wal))) {
    const last = second.findLast(({ end }) => end <= cut) ?? before;
    for (const [rest, left] of losses(wal, older, cut)) {
      cuts += 1;
      expect(await foundIn(folder, db, left), `cut at ${cut}, the rest ${rest}`).toBe(last.state);
    }
  }
  other.close();
  await store.close();
  expect(first.length + second.length).toBe(60);
  expect(cuts).toBeGreaterThan(isLarge ? 500 : 40);
});

test("a checkpoint that was cut off at any page loses nothing", { timeout: 60_000 }, async () => {
  const folder = await temporaryHome();
  const path = join(folder, "lanes.sqlite");
  const store = sqliteLanes(path, world);
  await played(path, store, [1, 2, 3, 4, 5, 6]);
  const state = await stateOf(store);
  const [db, wal] = [readFileSync(path), readFileSync(`${path}-wal`)];
  const copy = join(folder, "copy.sqlite");
  copyFileSync(path, copy);
  copyFileSync(`${path}-wal`, `${copy}-wal`);
  const whole = new DatabaseSync(copy);
  whole.exec("pragma wal_checkpoint(truncate)");
  whole.close();
  const folded = readFileSync(copy);
  const page = wal.readUInt32BE(8);
  for (let bytes = 0; bytes <= folded.length; bytes += page / 2) {
    const half = Buffer.concat([folded.subarray(0, bytes), db.subarray(bytes)]);
    expect(await foundIn(folder, half, wal), `${bytes} bytes were written back`).toBe(state);
  }
  await store.close();
});
