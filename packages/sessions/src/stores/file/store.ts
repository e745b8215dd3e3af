/**
 * The session store in a directory: transcripts, the index, and the numbers in the lock files.
 * Invariant: no path from a row or an id is used before it was shown to lie inside the directory, links resolved.
 */
import { basename, dirname, join, resolve, sep } from "node:path";
import { errnoOf, isObject, tryParse } from "@holdfast/base";
import { SessionError } from "../../errors.ts";
import { checkSessionId } from "../../key.ts";
import type { LogRef, SessionStore } from "../../store.ts";
import type { SessionsProblem } from "../../types.ts";
import type { Disk, LockMode, Place } from "./disk.ts";
import { listLogs } from "./list-logs.ts";
import { FileLogs } from "./logs.ts";
import { RowIndex } from "./row-index.ts";
import { removeScrap } from "./scrap.ts";
import { during, storageError } from "./storage-error.ts";
import { ensureDirectory, readIfThere, writeNewFile } from "./whole-files.ts";
import type { LockOptions } from "./write-lock.ts";

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
  return fileStore({ ...options, directory, lock: { ...options.lock, mode } }, place);
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

function fileStore(options: FileStoreOptions, place: Place): SessionStore {
  const { directory, sync, onProblem, lock } = options;
  const logs = new FileLogs({ ...place, sync, lock, resolve: (log) => pathIn(place.disk, directory, log) });
  const index = new RowIndex({ ...place, directory, sync, onProblem, lock });
  return {
    supports: { durable: sync, shared: true, files: true },
    pathOf: (log) => resolve(directory, log.file),
    async logs(sweep) {
      if (sweep !== undefined) await during(directory, "write", () => removeScrap(directory, sweep.scrapAgeMs, place));
      return during(directory, "read", () => listLogs(directory, place));
    },
    get: (key) => index.get(key),
    update: (key, change) => index.update(key, change),
    list: (query = {}) => index.list(query),
    scrub: () => index.scrub(),
    create: (...given) => logs.create(...given),
    claimTurn: (...given) => logs.claimTurn(...given),
    renewTurn: (...given) => logs.renewTurn(...given),
    releaseTurn: (...given) => logs.releaseTurn(...given),
    commit: (request) => logs.commit(request),
    read: (...given) => logs.read(...given),
    archive: (...given) => logs.archive(...given),
    restore: (...given) => logs.restore(...given),
    pack: (...given) => logs.pack(...given),
    discard: (...given) => logs.discard(...given),
    async close() {
      await logs.close();
      await index.close();
    },
  };
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
