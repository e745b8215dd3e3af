/**
 * The files of one attempt of a command (`actions/<key>/<attempt>/`): what gateway and supervisor tell each other.
 *
 *   command   what to run, written by the gateway before the supervisor is started
 *   started   made by link(2), by the supervisor before it runs the command, or as `void` by whoever settles; first wins
 *   output    both streams, interleaved, capped
 *   exit      how it ended, written aside and renamed: its presence is the proof that the command ran to its end
 *
 * Invariant: `started` is made once and never changes, so "was not started" can be made true for ever.
 * This file and supervisor.ts use Node alone: the supervisor must start where nothing else can be resolved.
 */
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export interface Command {
  readonly command: string;
  readonly cwd: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  /** What the supervisor says of itself in `started`, but for its pid and start time. */
  readonly place: { readonly boot: string; readonly pidns: string; readonly host: string };
}

export interface Exit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stopped: "timeout" | "cancelled" | null;
  /** All that the command wrote; `output` holds at most the cap. */
  readonly outputBytes: number;
  /** Set when it could not be run at all. */
  readonly error: string | null;
}

/** Reads one of the JSON files; undefined when it is not there. Damage throws. */
export async function readRecord(directory: string, name: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(directory, name), "utf8"));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes `started` hold this record, durably, unless it is there. False: somebody else was first. */
export async function makeStarted(directory: string, record: unknown): Promise<boolean> {
  const aside = join(directory, `started.${process.pid}.tmp`);
  await writeSynced(aside, record);
  try {
    await link(aside, join(directory, "started"));
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
  await syncFolder(directory);
  return true;
}

/** Writes a record under its final name, whole and durable. */
export async function putRecord(directory: string, name: string, record: unknown): Promise<void> {
  const aside = join(directory, `${name}.${process.pid}.tmp`);
  await writeSynced(aside, record);
  await rename(aside, join(directory, name));
  await syncFolder(directory);
}

async function writeSynced(path: string, record: unknown): Promise<void> {
  await using handle = await open(path, "w", 0o600);
  await handle.writeFile(`${JSON.stringify(record)}\n`);
  await handle.sync();
}

async function syncFolder(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
