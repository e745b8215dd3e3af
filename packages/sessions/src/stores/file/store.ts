/**
 * The session store in a directory: transcripts, the index, and the numbers in the lock files.
 * Invariant: no path from a row or an id is used before it was shown to lie inside the directory, links resolved.
 */
import { basename, dirname, join, resolve, sep } from "node:path";
import { errnoOf, isObject, tryParse } from "@holdfast/base";
import type { Header } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { checkSessionId } from "../../key.ts";
import type { CommitRequest, Committed, FirstEntries, LogRef, Position, Reading, SessionStore } from "../../store.ts";
import type { Claim, ListedSession, ListQuery, Right, SessionRow, SessionsProblem } from "../../types.ts";
import type { Disk, LockMode, Place } from "./disk.ts";
import { listLogs } from "./list-logs.ts";
import { FileLogs } from "./logs.ts";
import { RowIndex } from "./row-index.ts";
import { removeScrap } from "./scrap.ts";
import { during, storageError } from "./storage-error.ts";
import { ensureDirectory, readIfThere, writeNewFile } from "./whole-files.ts";
import type { LockOptions } from "./write-lock.ts";

type RowChange = (row: SessionRow | undefined) => SessionRow | undefined | null;

export interface FileStoreOptions {
  readonly directory: string;
  readonly lock: LockOptions;
  /** Whether new files and index lines are synced; what a commit syncs is said with it. */
  readonly sync: boolean;
  readonly onProblem: (problem: SessionsProblem) => void;
}

/** Creates the directory if missing and agrees on its lock mode. Throws `lock_mode_unavailable`, `write_failed`. */
export async function openFileStore(options: FileStoreOptions, place: Place): Promise<SessionStore> {
  const given = resolve(options.directory);
  await during(given, "open", () => ensureDirectory(place.disk, given));
  const directory = await during(given, "open", () => place.disk.realpath(given));
  const mode = await agreeOnMode(directory, options.lock.mode, place);
  return new FileStore({ ...options, directory, lock: { ...options.lock, mode } }, place);
}

/** Of `.store.json`; a later one may mean that the files are to be read differently. */
const FORMAT = 1;

/** The first process writes down how this store is locked; every other must be able to do the same. Files anybody can make. */
async function agreeOnMode(directory: string, asked: LockMode | undefined, place: Place): Promise<LockMode> {
  const path = join(directory, ".store.json");
  const mine = asked ?? place.disk.locks.mode;
  const found = await readStoreNote(place.disk, path);
  const agreed = found ?? (await writeStoreNote(path, mine, place));
  if (agreed === mine || agreed === "create") return agreed;
  throw new SessionError("lock_mode_unavailable", { path: directory, mode: agreed, have: mine });
}

async function readStoreNote(disk: Disk, path: string): Promise<string | undefined> {
  const bytes = await during(path, "read", () => readIfThere(disk, path));
  const note = tryParse(bytes?.toString("utf8") ?? "");
  if (isObject(note) && typeof note.format === "number" && note.format > FORMAT)
    throw new SessionError("store_newer", { path: dirname(path), format: note.format });
  return isObject(note) && typeof note.lock === "string" ? note.lock : undefined;
}

async function writeStoreNote(path: string, mode: string, { disk, world }: Place): Promise<string> {
  const aside = `${path}.${world.newId("holder")}.new`;
  const text = `${JSON.stringify({ format: FORMAT, lock: mode })}\n`;
  try {
    await during(path, "write", () => writeNewFile(disk, aside, Buffer.from(text)));
    await disk.link(aside, path);
    await disk.syncDirectory(dirname(path));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw storageError(error, path, "link");
  } finally {
    await during(path, "write", () => disk.remove(aside));
  }
  return (await readStoreNote(disk, path)) ?? mode;
}

class FileStore implements SessionStore {
  readonly supports;
  readonly #logs: FileLogs;
  readonly #index: RowIndex;

  constructor(options: FileStoreOptions, place: Place) {
    const { directory, sync, onProblem, lock } = options;
    this.supports = { durable: sync, shared: true, files: true };
    this.#logs = new FileLogs({ ...place, sync, lock, resolve: (log) => pathIn(place.disk, directory, log) });
    this.#index = new RowIndex({ ...place, directory, sync, onProblem, lock });
    this.pathOf = (log) => resolve(directory, log.file);
    this.logs = async (sweep) => {
      if (sweep !== undefined) await during(directory, "write", () => removeScrap(directory, sweep.scrapAgeMs, place));
      return during(directory, "read", () => listLogs(directory, place));
    };
  }

  readonly pathOf: (log: LogRef) => string;
  readonly logs: SessionStore["logs"];

  get(key: string): Promise<SessionRow | undefined> {
    return this.#index.get(key);
  }

  update(key: string, change: RowChange): Promise<SessionRow | undefined> {
    return this.#index.update(key, change);
  }

  list(query: ListQuery = {}): Promise<readonly ListedSession[]> {
    return this.#index.list(query);
  }

  create(log: LogRef, header: Header, entries: FirstEntries): Promise<"created" | "exists"> {
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

  archive(log: LogRef, as: LogRef, expect: Position): Promise<"archived" | "behind" | "missing"> {
    return this.#logs.archive(log, as, expect);
  }

  restore(archived: LogRef, log: LogRef): Promise<"restored" | "exists" | "missing"> {
    return this.#logs.restore(archived, log);
  }

  pack(archived: LogRef, log: LogRef): Promise<boolean> {
    return this.#logs.pack(archived, log);
  }

  discard(archived: LogRef, log: LogRef): Promise<boolean> {
    return this.#logs.discard(archived, log);
  }

  async close(): Promise<void> {
    await this.#logs.close();
    await this.#index.close();
  }
}

/** The real path of a log. Throws `bad_session_id`, `path_outside`. */
async function pathIn(disk: Disk, directory: string, log: LogRef): Promise<string> {
  checkSessionId(log.id);
  const real = await realpathOfNew(disk, resolve(directory, log.file));
  if (real.startsWith(directory + sep)) return real;
  throw new SessionError("path_outside", { path: log.file, directory });
}

/** The real path of a file that may not exist yet. A link to nothing is no place to create a file in. */
async function realpathOfNew(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.realpath(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw storageError(error, path, "open");
    return join(await disk.realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  }
}
