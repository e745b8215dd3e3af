/**
 * One transcript file: making it, appending to it, reading it.
 *
 * The file is opened for every commit and only that descriptor is written, so a file put in its place meanwhile is
 * noticed and a descriptor whose sync failed is never used again.
 * Invariant: one commit is one `write` of whole lines at the end of the file, synced before it is acknowledged; bytes
 * that are there are never changed, and a torn tail is sealed with a line feed by whoever writes next.
 */
import { constants } from "node:fs";
import { type FileHandle, link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf, syncDirectory, type World } from "@holdfast/base";
import { type Entry, encodeEntry, encodeHeader, type Header } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { fileSource } from "../../reading/source.ts";
import { isStale, type Rights } from "../../rights.ts";
import type { CommitRequest, Committed, Position, Reading, Unstamped } from "../../store.ts";
import { appendLines } from "./append-lines.ts";
import { numbersInLog } from "./numbers.ts";
import { offsetOf, positionOf, since } from "./position.ts";
import { during } from "./storage-error.ts";
import type { WriteLock } from "./write-lock.ts";

async function openIfThere(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The file now, for reading; undefined when it is not there. */
export async function readLog(path: string, before?: Position): Promise<Reading | undefined> {
  const handle = await during(path, "open", () => openIfThere(path, constants.O_RDONLY));
  if (handle === undefined) return undefined;
  try {
    if (!(await handle.stat()).isFile()) throw new SessionError("not_a_file", { path });
    const now =
      before === undefined
        ? { since: "none" as const, position: await positionOf(handle) }
        : await since(handle, before);
    const source = await fileSource(handle);
    return { ...now, source, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Under which numbers this writer writes now: a generation of its own whenever somebody else wrote last. */
async function rightsNow(handle: FileHandle, lock: WriteLock, token: string): Promise<Rights> {
  if (lock.rights?.writer === token) return lock.rights;
  const seen = await numbersInLog(handle, lock.rights === undefined ? "all" : "tail");
  const kept = lock.rights ?? { g: 0, t: seen.t, lease: null, writer: "" };
  return { ...kept, g: Math.max(kept.g, seen.g) + 1, t: Math.max(kept.t, seen.t), writer: token };
}

/** The numbers kept for the log at `path`, looked up in the log itself where the note is lost. */
export async function keptRights(path: string, lock: WriteLock): Promise<Rights> {
  if (lock.rights !== undefined) return lock.rights;
  const handle = await openIfThere(path, constants.O_RDONLY);
  if (handle === undefined) return { g: 0, t: 0, lease: null, writer: "" };
  try {
    return { ...(await numbersInLog(handle, "all")), lease: null, writer: "" };
  } finally {
    await handle.close();
  }
}

function textOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${encodeEntry(entry)}\n`).join("");
}

/** The store's stamp, and the only place that gives one. */
function stamp(entries: readonly Unstamped[], g: number, t: number | undefined): readonly Entry[] {
  return entries.map((entry) => ({ ...entry, g, ...(t === undefined ? {} : { t }) }) as Entry);
}

interface Tools {
  readonly world: World;
  readonly token: string;
}

/** Compare, stamp, append, sync: called with the write lock held. */
export async function commitLog(
  path: string,
  lock: WriteLock,
  request: CommitRequest,
  tools: Tools,
): Promise<Committed> {
  const handle = await during(path, "open", () => openIfThere(path, constants.O_RDWR | constants.O_APPEND));
  if (handle === undefined) return { kind: "behind", reading: undefined };
  try {
    const now = await since(handle, request.expect);
    if (now.since !== "none") return { kind: "behind", reading: await readLog(path, request.expect) };
    const rights = await rightsNow(handle, lock, tools.token);
    if (isStale(rights, request.right?.t)) return { kind: "stale_turn", t: rights.t };
    const next = { ...rights, t: Math.max(rights.t, request.right?.t ?? 0) };
    if (next.writer !== lock.rights?.writer || next.t !== lock.rights.t) lock.keep(next);
    const entries = stamp(request.entries, next.g, request.right?.t);
    tools.world.at("transcript:before-write");
    if (entries.length > 0) await during(path, "write", () => appendLines(handle, path, textOf(entries)));
    if (request.sync) await during(path, "sync", () => handle.datasync());
    tools.world.at("transcript:after-sync");
    const position = await positionOf(handle);
    return { kind: "committed", position, end: offsetOf(position), entries };
  } finally {
    await handle.close();
  }
}

/** Writes the first lines aside, syncs them and gives them the final name: a new file is whole or not there. */
export async function createLog(
  path: string,
  lock: WriteLock,
  first: { readonly header: Header; readonly entries: readonly Unstamped[]; readonly sync: boolean },
  tools: Tools,
): Promise<"created" | "exists"> {
  const there = await openIfThere(path, constants.O_RDONLY);
  if (there !== undefined) {
    await there.close();
    return "exists";
  }
  const rights: Rights = { g: (lock.rights?.g ?? 0) + 1, t: lock.rights?.t ?? 0, lease: null, writer: tools.token };
  lock.keep({ ...rights, lease: lock.rights?.lease ?? null });
  const text = `${encodeHeader(first.header)}\n${textOf(stamp(first.entries, rights.g, undefined))}`;
  // One name for every attempt, under the lock: what a killed attempt left is replaced by the next.
  const aside = `${path}.new`;
  tools.world.at("transcript:before-write");
  await during(path, "write", () => rm(aside, { force: true }));
  try {
    await writeAside(aside, text, first.sync);
    await during(path, "link", () => link(aside, path));
  } catch (error) {
    if (isTaken(error)) return "exists";
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
  if (first.sync) await during(path, "sync", () => syncDirectory(dirname(path)));
  tools.world.at("transcript:after-sync");
  return "created";
}

/** Somebody without our lock was faster. */
function isTaken(error: unknown): boolean {
  return error instanceof SessionError && error.details.errno === "EEXIST" && error.details.step === "link";
}

async function writeAside(aside: string, text: string, sync: boolean): Promise<void> {
  const handle = await during(aside, "open", () => open(aside, "wx+", 0o600));
  try {
    await during(aside, "write", () => appendLines(handle, aside, text));
    if (sync) await during(aside, "sync", () => handle.sync());
  } finally {
    await handle.close();
  }
}
