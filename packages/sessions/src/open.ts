/**
 * The ways in: a directory of conversations, conversations in memory, one bare transcript.
 * Invariant: defaults are chosen here and nowhere else.
 */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, LIMITS, realWorld, type World } from "@holdfast/base";
import { SessionError } from "./errors.ts";
import { openSession } from "./session.ts";
import { sessionsOver } from "./sessions.ts";
import { type Disk, realDisk } from "./stores/file/disk.ts";
import { FileLogs } from "./stores/file/logs.ts";
import { openFileStore } from "./stores/file/store.ts";
import { memoryStore } from "./stores/memory/store.ts";
import type { Fsync, OpenSessionsOptions, Session, Sessions, SessionsProblem } from "./types.ts";

/**
 * Opens the conversations of a directory, creating it (0700) if missing. Several processes may have it open at once.
 * Throws `lock_mode_unavailable`, `write_failed`. Close it: it folds the index.
 */
export function openSessions(options: OpenSessionsOptions, world: World = realWorld()): Promise<Sessions> {
  return openSessionsOn(realDisk, options, world);
}

/** The same on another disk. */
export async function openSessionsOn(disk: Disk, options: OpenSessionsOptions, world: World): Promise<Sessions> {
  const { directory, fsync = "always", cwd = process.cwd(), onProblem = warn } = options;
  const lock = lockOptions(options.writeLock, onProblem);
  const store = await openFileStore({ directory, lock, sync: fsync !== "never", onProblem }, { disk, world });
  const onLost = (key: string, log: { readonly file: string }) =>
    onProblem({ code: "transcript_lost", what: `${key}: ${log.file} is not there; a new one was begun` });
  return sessionsOver({ store, world, fsync, cwd, onLost });
}

/** Conversations that end with the process. */
export function memorySessions(world: World = realWorld()): Sessions {
  return sessionsOver({ store: memoryStore(world), world, fsync: "never", cwd: process.cwd(), onLost: () => {} });
}

export interface OpenTranscriptOptions {
  readonly fsync?: Fsync;
  /** Begin the file if it is not there. */
  readonly create?: boolean;
  readonly writeLock?: OpenSessionsOptions["writeLock"];
}

/**
 * Opens one transcript by its path, without any index. `key` is the path. Throws `file_missing`, `not_a_file`; a file of
 * version 1 or 2 can be read, and refuses appends with `read_only_version`.
 */
export async function openTranscript(
  path: string,
  options: OpenTranscriptOptions = {},
  world: World = realWorld(),
): Promise<Session> {
  const { fsync = "always", create = false } = options;
  const real = await realFile(path, create);
  const resolveLog = async () => real;
  const store = new FileLogs({
    disk: realDisk,
    world,
    lock: lockOptions(options.writeLock, warn),
    sync: fsync !== "never",
    resolve: resolveLog,
  });
  const log = { id: basename(real).replace(/\.jsonl$/, ""), file: real };
  const timestamp = new Date(world.nowMs()).toISOString();
  const header = { type: "session", version: 3, id: world.newId("session"), timestamp, cwd: process.cwd() } as const;
  const isNew = create && (await store.create(log, header, [])) === "created";
  const found = isNew ? "new" : "resumed";
  const onClose = (): void => opened.end();
  const opened = await openSession({ key: real, log, found, store, world, fsync, onClose });
  return opened.session;
}

async function realFile(path: string, create: boolean): Promise<string> {
  const given = resolve(path);
  try {
    const real = await realpath(given);
    if ((await stat(real)).isFile()) return real;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR") throw error;
    if (!create) throw new SessionError("file_missing", { path }, error);
    return join(await realpath(dirname(given)), basename(given));
  }
  throw new SessionError("not_a_file", { path });
}

function lockOptions(given: OpenSessionsOptions["writeLock"], onProblem: (problem: SessionsProblem) => void) {
  return {
    timeoutMs: given?.timeoutMs ?? LIMITS.writeLockTimeoutMs,
    staleMs: given?.staleMs ?? LIMITS.writeLockStaleMs,
    maxHoldMs: given?.maxHoldMs ?? LIMITS.writeLockMaxHoldMs,
    ...(given?.mode === undefined ? {} : { mode: given.mode }),
    onProblem,
  };
}

function warn(problem: SessionsProblem): void {
  process.emitWarning(`sessions: ${problem.code}: ${problem.what}`);
}
