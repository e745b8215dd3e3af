/**
 * The session store in a directory: transcripts, the index, and the numbers in the lock files.
 * Invariant: no path from a row or an id is used before it was shown to lie inside the directory, links resolved.
 */
import { link, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { errnoOf, isObject, makePrivateDirectory, tryParse, type World } from "@holdfast/base";
import type { Header } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { checkSessionId } from "../../key.ts";
import type { CommitRequest, Committed, LogRef, Position, Reading, SessionStore, Unstamped } from "../../store.ts";
import type { Claim, ListedSession, Right, SessionRow, SessionsProblem } from "../../types.ts";
import { FileLogs } from "./logs.ts";
import { RowIndex } from "./row-index.ts";
import { during } from "./storage-error.ts";
import { type LockOptions, ownLockMode } from "./write-lock.ts";

type RowChange = (row: SessionRow | undefined) => SessionRow | undefined | null;

export interface FileStoreOptions {
  readonly directory: string;
  readonly lock: LockOptions;
  /** Whether new files and index lines are synced; what a commit syncs is said with it. */
  readonly sync: boolean;
  readonly onProblem: (problem: SessionsProblem) => void;
}

/** Creates the directory if missing and agrees on its lock mode. Throws `lock_mode_unavailable`, `write_failed`. */
export async function openFileStore(options: FileStoreOptions, world: World): Promise<SessionStore> {
  const given = resolve(options.directory);
  await during(given, "open", () => makePrivateDirectory(given));
  const directory = await during(given, "open", () => realpath(given));
  await agreeOnMode(directory, world);
  return new FileStore({ ...options, directory }, world);
}

/** The first process writes down how this store is locked; every other must be able to do the same. */
async function agreeOnMode(directory: string, world: World): Promise<void> {
  const path = join(directory, ".store.json");
  const mine = ownLockMode();
  const found = await readStoreNote(path);
  const agreed = found ?? (await writeStoreNote(path, mine, world));
  if (agreed === mine) return;
  throw new SessionError("lock_mode_unavailable", { directory, mode: agreed, reason: `it provides ${mine}` });
}

async function readStoreNote(path: string): Promise<string | undefined> {
  try {
    const note = tryParse(await readFile(path, "utf8"));
    return isObject(note) && typeof note.lock === "string" ? note.lock : undefined;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function writeStoreNote(path: string, mode: string, world: World): Promise<string> {
  const aside = `${path}.${world.newId("holder")}.new`;
  const text = `${JSON.stringify({ format: 1, lock: mode })}\n`;
  try {
    await during(path, "write", () => writeFile(aside, text, { flag: "wx", mode: 0o600 }));
    await link(aside, path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
  return (await readStoreNote(path)) ?? mode;
}

class FileStore implements SessionStore {
  readonly supports;
  readonly #logs: FileLogs;
  readonly #index: RowIndex;

  constructor(options: FileStoreOptions, world: World) {
    const { directory, sync, onProblem, lock } = options;
    this.supports = { durable: sync, shared: true, files: true };
    this.#logs = new FileLogs({ world, sync, lock, resolve: (log) => pathIn(directory, log) });
    this.#index = new RowIndex({ directory, world, sync, onProblem, timeoutMs: lock.timeoutMs });
    this.pathOf = (log) => resolve(directory, log.file);
  }

  readonly pathOf: (log: LogRef) => string;

  get(key: string): Promise<SessionRow | undefined> {
    return this.#index.get(key);
  }

  update(key: string, change: RowChange): Promise<SessionRow | undefined> {
    return this.#index.update(key, change);
  }

  list(): Promise<readonly ListedSession[]> {
    return this.#index.list();
  }

  create(log: LogRef, header: Header, entries: readonly Unstamped[]): Promise<"created" | "exists"> {
    return this.#logs.create(log, header, entries);
  }

  claimTurn(log: LogRef, holder: string, leaseMs: number): Promise<Claim> {
    return this.#logs.claimTurn(log, holder, leaseMs);
  }

  renewTurn(log: LogRef, right: Right, leaseMs: number): Promise<boolean> {
    return this.#logs.renewTurn(log, right, leaseMs);
  }

  releaseTurn(log: LogRef, right: Right): Promise<void> {
    return this.#logs.releaseTurn(log, right);
  }

  commit(request: CommitRequest): Promise<Committed> {
    return this.#logs.commit(request);
  }

  read(log: LogRef, since?: Position): Promise<Reading | undefined> {
    return this.#logs.read(log, since);
  }

  close(): Promise<void> {
    return this.#index.close();
  }
}

/** The real path of a log. Throws `bad_session_id`, `path_outside`. */
async function pathIn(directory: string, log: LogRef): Promise<string> {
  checkSessionId(log.id);
  const real = await realpathOfNew(resolve(directory, log.file));
  if (real.startsWith(directory + sep)) return real;
  throw new SessionError("path_outside", { path: log.file, directory });
}

/** The real path of a file that may not exist yet. A link to nothing is no place to create a file in. */
async function realpathOfNew(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  }
}
