/**
 * The ways in: a directory of conversations, conversations in memory, one bare transcript.
 * Invariant: defaults are chosen here and nowhere else.
 */
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, LIMITS, realWorld, type World } from "@holdfast/base";
import type { Header } from "./entry.ts";
import { SessionError } from "./errors.ts";
import type { SessionStore } from "./store.ts";
import { openSession } from "./session.ts";
import { sessionsOver } from "./sessions.ts";
import { type Disk, type Place, realDisk } from "./stores/file/disk.ts";
import { FileLogs } from "./stores/file/logs.ts";
import { openFileStore } from "./stores/file/store.ts";
import { withFlatFiles } from "./stores/flat/store.ts";
import { memoryStore } from "./stores/memory/store.ts";
import type { Fsync, OpenSessionsOptions, Session, Sessions, SessionsProblem } from "./types.ts";

/**
 * Opens the conversations of a directory, creating it (0700) if missing. Several processes may have it open at once.
 * Throws `lock_mode_unavailable`, `write_failed`, `file_missing` (a folder of `flatDirectories`). Close it: it folds the index.
 */
export function openSessions(options: OpenSessionsOptions, world: World = realWorld()): Promise<Sessions> {
  return openSessionsOn(realDisk, options, world);
}

/** The same on another disk. */
export async function openSessionsOn(disk: Disk, options: OpenSessionsOptions, world: World): Promise<Sessions> {
  const { directory, fsync = "always", cwd = process.cwd(), onProblem = warn } = options;
  const lock = lockOptions(options.writeLock, onProblem);
  const files = await openFileStore({ directory, lock, sync: fsync !== "never", onProblem }, { disk, world });
  const store = await withFlat(files, options, { disk, world });
  const onLost = (key: string, log: { readonly file: string }) =>
    onProblem({ code: "transcript_lost", what: `${key}: ${log.file} is not there; a new one was begun` });
  return sessionsOver({ store, world, fsync, cwd, onLost });
}

async function withFlat(store: SessionStore, options: OpenSessionsOptions, place: Place): Promise<SessionStore> {
  const { agentId = "main", flatDirectories = [] } = options;
  if (flatDirectories.length === 0) return store;
  const directory = await place.disk.realpath(resolve(options.directory));
  const folders = flatDirectories.map((path) => resolve(path));
  return withFlatFiles(store, { directory, agentId, flatDirectories: folders }, place);
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
export function openTranscript(
  path: string,
  options: OpenTranscriptOptions = {},
  world: World = realWorld(),
): Promise<Session> {
  return openTranscriptOn(realDisk, path, options, world);
}

/** The same on another disk. */
export async function openTranscriptOn(
  disk: Disk,
  path: string,
  options: OpenTranscriptOptions,
  world: World,
): Promise<Session> {
  const { fsync = "always", create = false } = options;
  const real = await realFile(disk, path, create);
  const resolveLog = async () => real;
  const store = new FileLogs({
    disk,
    world,
    lock: lockOptions(options.writeLock, warn),
    sync: fsync !== "never",
    resolve: resolveLog,
  });
  const log = { id: basename(real).replace(/\.jsonl$/, ""), file: real };
  const isNew = create && (await store.create(log, newHeader(world), [])) === "created";
  const found = isNew ? "new" : "resumed";
  const onClose = (): Promise<void> => {
    opened.end();
    return store.close();
  };
  const opened = await openSession({ key: real, log, found, store, world, fsync, onClose });
  return opened.session;
}

function newHeader(world: World): Header {
  const timestamp = new Date(world.nowMs()).toISOString();
  return { type: "session", version: 3, id: world.newId("session"), timestamp, cwd: process.cwd() };
}

async function realFile(disk: Disk, path: string, create: boolean): Promise<string> {
  const given = resolve(path);
  try {
    const real = await disk.realpath(given);
    if ((await disk.stat(real)).isFile()) return real;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR") throw error;
    if (!create) throw new SessionError("file_missing", { path }, error);
    return join(await disk.realpath(dirname(given)), basename(given));
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
