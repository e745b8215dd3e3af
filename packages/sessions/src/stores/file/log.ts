/**
 * One transcript file: making it, appending to it, reading it.
 *
 * At every commit the descriptor that is written is compared with what the path leads to, so a file put in its place
 * meanwhile is noticed; after an error it is closed, so a descriptor whose sync failed is never used again.
 * Invariant: one commit is one `write` of whole lines at the end of the file, synced before it is acknowledged; bytes
 * that are there are never changed, and a torn tail is sealed with a line feed by whoever writes next.
 */
import { dirname } from "node:path";
import { errnoOf, LIMITS } from "@holdfast/base";
import { type Entry, encodeEntry, encodeHeader, type Header } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { type ByteSource, fileSource, withEnds } from "../../reading/source.ts";
import { isStale, type Rights } from "../../rights.ts";
import { extendSidecar, SIDECAR_FROM_BYTES } from "../../sidecar/sidecar-file.ts";
import type { CommitRequest, Committed, FirstEntries, Position, Reading, Unstamped } from "../../store.ts";
import { appendLines, writeLines } from "./append-lines.ts";
import type { Disk, DiskFile, DiskStat, OpenMode, Place } from "./disk.ts";
import { confirmWritten, type Held } from "./fence.ts";
import { rightsNow } from "./numbers.ts";
import { isTorn, markOf, offsetOf, positionAfter, positionAt, since } from "./position.ts";
import { during } from "./storage-error.ts";
import { openIfThere } from "./whole-files.ts";
import type { WriteLock } from "./write-lock.ts";

/** The file now, for reading; undefined when it is not there. */
export async function readLog(disk: Disk, path: string, before?: Position): Promise<Reading | undefined> {
  const handle = await during(path, "open", () => openLog(disk, path, "read"));
  if (handle === undefined) return undefined;
  try {
    return await during(path, "read", () => readingOf(handle, path, before));
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Undefined when it is not there. Throws `not_a_file` for what is there and no file. */
async function openLog(disk: Disk, path: string, mode: OpenMode): Promise<DiskFile | undefined> {
  try {
    return await openIfThere(disk, path, mode);
  } catch (error) {
    const code = errnoOf(error);
    throw code === "EISDIR" || code === "not_regular" ? new SessionError("not_a_file", { path }, error) : error;
  }
}

async function readingOf(handle: DiskFile, path: string, before: Position | undefined): Promise<Reading> {
  const stat = await handle.stat({ bigint: true });
  if (!stat.isFile()) throw new SessionError("not_a_file", { path });
  const now = before === undefined ? await fromEnd(handle, stat) : await fromBefore(handle, before);
  const { size, read, readInto } = now.source;
  const source: ByteSource = {
    size,
    read: (offset, length) => during(path, "read", () => read(offset, length)),
    ...(readInto && { readInto: (into, offset) => during(path, "read", () => readInto(into, offset)) }),
  };
  return { since: now.since, position: now.position, source, [Symbol.asyncDispose]: () => handle.close() };
}

type Now = Pick<Reading, "since" | "position" | "source">;

/** Whoever opens a log reads its end anyway: it is read once, and says where the log ends too. */
async function fromEnd(handle: DiskFile, stat: DiskStat): Promise<Now> {
  const source = await withEnds(await fileSource(handle, Number(stat.size)), LIMITS.readChunkBytes);
  return { since: "none", position: positionAt(stat, source.end), source };
}

async function fromBefore(handle: DiskFile, before: Position): Promise<Now> {
  const { size, ...now } = await since(handle, before);
  return { ...now, source: await fileSource(handle, size) };
}

function textOf(entries: readonly Entry[]): string {
  return entries.map((entry) => `${encodeEntry(entry)}\n`).join("");
}

async function writeEntries(file: DiskFile, path: string, entries: readonly Entry[], at: Position): Promise<Buffer> {
  if (entries.length === 0) return Buffer.alloc(0);
  return writeLines(file, path, textOf(entries), isTorn(at));
}

/** The store's stamp, and the only place that gives one. */
function stamp(entries: readonly Unstamped[], g: number, t: number | undefined): readonly Entry[] {
  return entries.map((entry) => ({ ...entry, g, ...(t === undefined ? {} : { t }) }) as Entry);
}

interface Tools extends Place {
  readonly token: string;
}

/** Compare, stamp, append, sync: called with the write lock held. */
export async function commitLog(
  path: string,
  lock: WriteLock,
  request: CommitRequest,
  tools: Tools,
): Promise<Committed> {
  const { disk } = tools;
  const log = await during(path, "open", () => openForWriting(path, lock, disk));
  if (log === undefined) return { kind: "behind", reading: undefined };
  const { handle } = log;
  try {
    const now = await since(handle, request.expect, log.stat);
    if (now.since !== "none") return { kind: "behind", reading: await readLog(disk, path, request.expect) };
    const rights = await rightsNow(handle, lock, tools.token);
    if (isStale(rights, request.right?.t)) return { kind: "stale_turn", t: rights.t };
    const next = { ...rights, t: Math.max(rights.t, request.right?.t ?? 0) };
    if (next.writer !== lock.rights?.writer || next.t !== lock.rights.t) await lock.keep(next);
    const entries = stamp(request.entries, next.g, request.right?.t);
    await lock.check();
    tools.world.at("transcript:before-write");
    const written = await during(path, "write", () => writeEntries(handle, path, entries, now.position));
    if (request.sync) await syncLog({ handle, path, lock, disk }, next, offsetOf(now.position));
    await confirmWritten({ handle, path, lock, disk }, offsetOf(now.position), next.g);
    tools.world.at("transcript:after-sync");
    const position = await positionAfter(handle, now.position, written);
    if (written.length > 0) await extendIndex({ handle, path, lock, disk }, now.position, position, written, tools);
    return { kind: "committed", position, end: offsetOf(position), entries };
  } finally {
    if (lock.kept === undefined) await handle.close();
  }
}

/**
 * The transcript, open for appending, and what it looks like: what was kept open if the path still leads to it. Undefined
 * when there is none. What the lock keeps is closed with it.
 */
async function openForWriting(
  path: string,
  { kept }: WriteLock,
  disk: Disk,
): Promise<{ readonly handle: DiskFile; readonly stat: DiskStat } | undefined> {
  const there = kept?.log && (await disk.find(path));
  if (kept?.log !== undefined) {
    const { handle, dev, ino } = kept.log;
    if (there !== undefined && there.ino === ino && there.dev === dev) return { handle, stat: there };
    kept.log = undefined;
    await handle.close();
  }
  const handle = await openLog(disk, path, "append");
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat({ bigint: true });
    if (kept !== undefined) kept.log = { handle, dev: stat.dev, ino: stat.ino };
    return { handle, stat };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** How long an index that was not there is not looked for again, while its log stays open. */
const NO_INDEX_MS = 1_000;

/** The index beside the log is carried on, if there is one; no acknowledgement needs it. */
async function extendIndex(
  { path, lock: { kept } }: Held,
  before: Position,
  after: Position,
  lines: Buffer,
  place: Place,
): Promise<void> {
  const marks = { before: markOf(before), after: markOf(after) };
  const nowMs = place.world.monotonicMs();
  if (marks.after.size < SIDECAR_FROM_BYTES || nowMs < (kept?.noIndexUntilMs ?? 0)) return;
  const isThere = await extendSidecar(place, path, marks, lines);
  if (!isThere && kept !== undefined) kept.noIndexUntilMs = nowMs + NO_INDEX_MS;
}

/**
 * Makes the log durable, whose bytes from `from` are ours. After a sync that failed the kernel may count the pages as
 * written, and would report success for bytes that are nowhere: so the next one writes them over with themselves first.
 */
async function syncLog({ handle, path, lock, disk }: Held, rights: Rights, from: number): Promise<void> {
  const { doubtfulFrom, ...sound } = rights;
  try {
    if (doubtfulFrom !== undefined) await during(path, "write", () => disk.renew(path, doubtfulFrom));
    await during(path, "sync", () => handle.datasync());
  } catch (error) {
    await lock.keep({ ...rights, doubtfulFrom: Math.min(doubtfulFrom ?? from, from) });
    throw error;
  }
  if (doubtfulFrom !== undefined) await lock.keep(sound);
}

/** Writes the first lines aside, syncs them and gives them the final name: a new file is whole or not there. */
export async function createLog(
  path: string,
  lock: WriteLock,
  first: { readonly header: Header; readonly entries: FirstEntries; readonly sync: boolean },
  tools: Tools,
): Promise<"created" | "exists"> {
  const { disk } = tools;
  const there = await openLog(disk, path, "read");
  if (there !== undefined) {
    await there.close();
    await finishCreation(disk, path, first.sync);
    return "exists";
  }
  const rights: Rights = { g: (lock.rights?.g ?? 0) + 1, t: lock.rights?.t ?? 0, lease: null, writer: tools.token };
  await lock.keep({ ...rights, lease: lock.rights?.lease ?? null });
  const texts = firstTexts(first, rights.g);
  // One name for every attempt, under the lock: what a killed attempt left is replaced by the next.
  const aside = `${path}.new`;
  tools.world.at("transcript:before-write");
  await during(path, "write", () => disk.remove(aside));
  try {
    await writeAside(disk, aside, texts, first.sync);
    await lock.check();
    await during(path, "link", () => disk.link(aside, path));
  } catch (error) {
    await during(path, "write", () => disk.remove(aside));
    if (!isTaken(error)) throw error;
    await finishCreation(disk, path, first.sync);
    return "exists";
  }
  await finishCreation(disk, path, first.sync);
  tools.world.at("transcript:after-sync");
  return "created";
}

/** Also for a file that is there: whoever made it may have been killed before its name was durable. */
async function finishCreation(disk: Disk, path: string, sync: boolean): Promise<void> {
  await during(path, "write", () => disk.remove(`${path}.new`));
  if (sync) await during(path, "sync", () => disk.syncDirectory(dirname(path)));
}

/** Somebody without our lock was faster. */
function isTaken(error: unknown): boolean {
  return error instanceof SessionError && error.details.errno === "EEXIST" && error.details.step === "link";
}

/** Lines joined to pieces that are worth a write. */
const PIECE_CHARACTERS = 256 * 1024;

async function* firstTexts(
  { header, entries }: { readonly header: Header; readonly entries: FirstEntries },
  g: number,
): AsyncGenerator<string> {
  let text = `${encodeHeader(header)}\n`;
  for await (const entry of entries) {
    text += textOf(stamp([entry], g, undefined));
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

async function writeAside(disk: Disk, aside: string, texts: AsyncIterable<string>, sync: boolean): Promise<void> {
  const handle = await during(aside, "open", () => disk.open(aside, "new"));
  try {
    for await (const text of texts) await during(aside, "write", () => appendLines(handle, aside, text));
    if (sync) await during(aside, "sync", () => handle.sync());
  } finally {
    await handle.close();
  }
}
