/**
 * What appending costs: one writer after the other, 64 at a time to one session and to 64, against bare system calls in
 * the same process, block by block. Bare calls are the synchronous ones: nothing is faster on this machine. The asynchronous
 * ones are measured too: a server that goes on while the disk works has no others.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Fsync, openTranscript, type Session } from "@holdfast/sessions";
import { dataDirectory, seeded } from "../data.ts";
import { median } from "./clock.ts";

const BLOCKS = 5;
const WIDTH = 64;

const random = seeded(7);
const text = Array.from({ length: 1100 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join("");
const entry = { type: "message", message: { role: "user", content: text } } as const;
/** As long as the line that an append of `entry` becomes. */
const line = Buffer.from(`${JSON.stringify({ ...entry, padding: "x".repeat(140) })}\n`);

interface Place {
  readonly directory: string;
  readonly fsync: Fsync;
}

/** Milliseconds of each of `count` bare appends. */
function bare(fd: number, fsync: Fsync, count: number): number[] {
  return Array.from({ length: count }, () => {
    const from = performance.now();
    writeSync(fd, line);
    if (fsync === "always") fdatasyncSync(fd);
    return performance.now() - from;
  });
}

/** The same with calls that do not block the event loop. */
async function bareAsync(file: FileHandle, fsync: Fsync, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < count; index++) {
    const from = performance.now();
    await file.write(line);
    if (fsync === "always") await file.datasync();
    all.push(performance.now() - from);
  }
  return all;
}

async function single(session: Session, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < count; index++) {
    const from = performance.now();
    await session.append(entry);
    all.push(performance.now() - from);
  }
  return all;
}

/** Milliseconds per append, `WIDTH` at a time. */
async function wide(sessions: readonly Session[], rounds: number): Promise<number> {
  const from = performance.now();
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: WIDTH }, (_, index) => sessions[index % sessions.length]!.append(entry)));
  }
  return (performance.now() - from) / (rounds * WIDTH);
}

async function inPlace<T>(fsync: Fsync, work: (place: Place) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(dataDirectory(), "append-"));
  try {
    return await work({ directory, fsync });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const begin = ({ directory, fsync }: Place, name: string): Promise<Session> =>
  openTranscript(join(directory, `${name}.jsonl`), { create: true, fsync });

/**
 * `one`, `bare`, `bareAsync`: median milliseconds of an append by a single writer. `wide`, `bareMean`: milliseconds each in
 * all.
 */
export async function oneSession(fsync: Fsync, count: number): Promise<Record<string, number>> {
  return inPlace(fsync, async (place) => {
    await using session = await begin(place, "one");
    const fd = openSync(join(place.directory, "bare"), "a");
    await using file = await open(join(place.directory, "bare-async"), "a");
    const found = { one: [], bare: [], bareAsync: [], wide: [], bareMean: [] } as Record<string, number[]>;
    await single(session, 20);
    for (let block = 0; block < BLOCKS; block++) {
      const bares = bare(fd, fsync, count);
      found.bare!.push(...bares);
      found.bareMean!.push(bares.reduce((sum, ms) => sum + ms, 0) / bares.length);
      found.one!.push(...(await single(session, count)));
      found.bareAsync!.push(...(await bareAsync(file, fsync, count)));
      found.wide!.push(await wide([session], Math.max(4, count / 10)));
    }
    closeSync(fd);
    return medians(found);
  });
}

/** `wide`: milliseconds per append over 64 sessions, one each at a time. */
export async function manySessions(fsync: Fsync, count: number): Promise<Record<string, number>> {
  return inPlace(fsync, async (place) => {
    const sessions = await Promise.all(Array.from({ length: WIDTH }, (_, index) => begin(place, `many-${index}`)));
    const fd = openSync(join(place.directory, "bare"), "a");
    const found = { wide: [] as number[], bareMean: [] as number[] };
    await wide(sessions, 2);
    for (let block = 0; block < BLOCKS; block++) {
      const bares = bare(fd, fsync, count);
      found.bareMean.push(bares.reduce((sum, ms) => sum + ms, 0) / bares.length);
      found.wide.push(await wide(sessions, Math.max(2, count / 20)));
    }
    closeSync(fd);
    await Promise.all(sessions.map((session) => session.close()));
    return medians(found);
  });
}

function medians(found: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, median(values)]));
}
