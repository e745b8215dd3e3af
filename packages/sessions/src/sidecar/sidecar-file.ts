/**
 * The sidecar index on disk, `<session id>.idx` beside its transcript: a heading, slots, and after each addition a stamp.
 *
 * Derived and never needed: it is not synced, no acknowledgement waits for its content, and whatever goes wrong with it
 * costs time only. Invariant: slots are used only if a stamp after them names exactly the file that is being read (device,
 * inode, size, both times in nanoseconds) and the checksum of everything before; any doubt and the transcript is asked.
 */
import { crc32 } from "node:zlib";
import { errnoOf } from "@holdfast/base";
import type { DiskFile, DiskStat, Place } from "../stores/file/disk.ts";
import { readHead } from "./heads.ts";
import {
  emptySlot,
  type FileMark,
  isStampOf,
  kindAt,
  putSlot,
  SLOT_BYTES,
  SLOT_WORDS,
  STAMP_KIND,
  stampOf,
  sumAt,
} from "./slots.ts";

/** A smaller transcript is read faster than its index. */
export const SIDECAR_FROM_BYTES = 256 * 1024;

/** Says what the file is, in which version, and in which order this machine writes the bytes of a word. */
const HEADING = Uint32Array.of(0x68667378, 1, 0x01020304, 0, 0, 0, 0, 0, 0, 0);
const CHUNK_SLOTS = 2 ** 15;
/** How far from the end the stamp of a file is looked for that has grown since it was read. */
const STAMPS_BACK_SLOTS = 256;
/** No line of an entry is shorter, its line feed included: `{"type":"a","id":"b"}`. */
const ENTRY_BYTES_MIN = 22;

/** Where the index of the transcript at `path` lies. */
export function sidecarPath(path: string): string {
  return `${path.replace(/\.jsonl$/, "")}.idx`;
}

/** The slots of the file that `mark` describes, or undefined where they are not there or in doubt. */
export async function loadSidecar(place: Place, path: string, mark: FileMark): Promise<Uint32Array | undefined> {
  return unlessRefused(async () => {
    await using file = await place.disk.open(sidecarPath(path), "read");
    const count = await slotsIn(file, mark);
    const stamp = await lastStampOf(file, count, mark);
    return stamp === undefined ? undefined : await slotsBefore(file, stamp);
  });
}

/** Whole slots in the file; 0 where it cannot be an index of that transcript. */
async function slotsIn(file: DiskFile, mark: FileMark): Promise<number> {
  const stat = await file.stat({ bigint: true });
  const count = Number(stat.size) / SLOT_BYTES;
  const countMax = 2 * (mark.size / ENTRY_BYTES_MIN + 2);
  return stat.isFile() && Number.isInteger(count) && count <= countMax ? count : 0;
}

async function lastStampOf(
  file: DiskFile,
  count: number,
  mark: FileMark,
): Promise<{ readonly slot: number; readonly sum: number } | undefined> {
  const from = Math.max(1, count - STAMPS_BACK_SLOTS);
  if (count <= from) return undefined;
  const words = await readSlots(file, from, count - from);
  for (let at = words.length - SLOT_WORDS; at >= 0; at -= SLOT_WORDS) {
    if (isStampOf(words, at, mark)) return { slot: from + at / SLOT_WORDS, sum: sumAt(words, at) };
  }
  return undefined;
}

/** Everything before a stamp, other stamps left out; undefined when its checksum is another. */
async function slotsBefore(
  file: DiskFile,
  stamp: { readonly slot: number; readonly sum: number },
): Promise<Uint32Array | undefined> {
  const kept = new Uint32Array(stamp.slot * SLOT_WORDS);
  let length = 0;
  let sum = 0;
  for (let from = 0; from < stamp.slot; from += CHUNK_SLOTS) {
    const words = await readSlots(file, from, Math.min(CHUNK_SLOTS, stamp.slot - from));
    sum = crc32(bytesOf(words), sum);
    if (from === 0 && !HEADING.every((word, index) => word === words[index])) return undefined;
    for (let at = from === 0 ? SLOT_WORDS : 0; at < words.length; at += SLOT_WORDS) {
      if (kindAt(words, at) === STAMP_KIND) continue;
      kept.set(words.subarray(at, at + SLOT_WORDS), length);
      length += SLOT_WORDS;
    }
  }
  return sum === stamp.sum ? kept.subarray(0, length) : undefined;
}

async function readSlots(file: DiskFile, from: number, count: number): Promise<Uint32Array> {
  const words = new Uint32Array(count * SLOT_WORDS);
  const bytes = bytesOf(words);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from * SLOT_BYTES + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return words;
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/**
 * Puts an index of the file that `mark` describes in the place of any other. Waits for nobody: while somebody writes the
 * transcript, or has written it since, that index would be an old one and nothing is kept.
 */
export async function keepSidecar(place: Place, path: string, mark: FileMark, slots: Uint32Array): Promise<void> {
  await unlessRefused(async () => {
    const lock = place.disk.locks.tryLock(`${path}.lock`);
    if (lock === undefined) return;
    try {
      if (isSameMark(await place.disk.stat(path), mark)) await replaceSidecar(place, sidecarPath(path), mark, slots);
    } finally {
      lock.release();
    }
  });
}

function isSameMark(stat: DiskStat, mark: FileMark): boolean {
  const isSameFile = stat.dev === mark.dev && stat.ino === mark.ino && Number(stat.size) === mark.size;
  return isSameFile && stat.mtimeNs === mark.mtimeNs && stat.ctimeNs === mark.ctimeNs;
}

async function replaceSidecar(place: Place, target: string, mark: FileMark, slots: Uint32Array): Promise<void> {
  const { disk, world } = place;
  if (!(await isOurs(place, target))) return;
  const aside = `${target}.new`;
  await disk.remove(aside);
  await using file = await disk.open(aside, "new");
  const sum = crc32(bytesOf(slots), crc32(bytesOf(HEADING)));
  world.at("sidecar:before-write");
  const parts = [HEADING, slots, stampOf(mark, sum)].map(bytesOf);
  for (const part of parts) if (!(await isWritten(file, part))) return disk.remove(aside);
  await disk.rename(aside, target);
  world.at("sidecar:after-write");
}

/** Whether the name is free, or taken by an index; a file of somebody else stays. */
async function isOurs({ disk }: Place, target: string): Promise<boolean> {
  try {
    await using file = await disk.open(target, "read");
    const [magic] = await readSlots(file, 0, 1);
    return magic === HEADING[0] || (await file.stat({ bigint: true })).size === 0n;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return true;
    throw error;
  }
}

async function isWritten(file: DiskFile, bytes: Uint8Array): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done);
    if (bytesWritten === 0) return false;
    done += bytesWritten;
  }
  return true;
}

/**
 * After a commit, with the write lock held: adds the slots of `lines`, which lie between the two marks, in one write.
 * Does nothing unless the index ends with the stamp of `before`. False when there is no index at all.
 */
export async function extendSidecar(
  place: Place,
  path: string,
  marks: { readonly before: FileMark; readonly after: FileMark },
  lines: Buffer,
): Promise<boolean> {
  const { before, after } = marks;
  if (after.size !== before.size + lines.length || after.ino !== before.ino) return true;
  const isThere = await unlessRefused(async () => {
    await using file = await place.disk.open(sidecarPath(path), "append");
    const count = Number((await file.stat({ bigint: true })).size) / SLOT_BYTES;
    if (!Number.isInteger(count) || count < 2) return true;
    const last = await readSlots(file, count - 1, 1);
    if (!isStampOf(last, 0, before)) return true;
    const slots = slotsOf(lines, before.size);
    if (slots === undefined) return true;
    const sum = crc32(bytesOf(slots), crc32(bytesOf(last), sumAt(last, 0)));
    const bytes = Buffer.concat([bytesOf(slots), bytesOf(stampOf(after, sum))]);
    place.world.at("sidecar:before-write");
    await file.write(bytes, 0, bytes.length);
    place.world.at("sidecar:after-write");
    return true;
  });
  return isThere ?? false;
}

/** The slots of whole lines that begin at `offset`; undefined when an index cannot say what they are. */
function slotsOf(lines: Buffer, offset: number): Uint32Array | undefined {
  const words: Uint32Array[] = [];
  const slot = emptySlot();
  for (let start = 0, end = lines.indexOf(0x0a); end !== -1; start = end + 1, end = lines.indexOf(0x0a, start)) {
    const head = readHead(lines, start, end, offset + start, slot);
    if (head === "odd") return undefined;
    if (head === "other") continue;
    const one = new Uint32Array(SLOT_WORDS);
    putSlot(one, 0, slot);
    words.push(one);
  }
  const all = new Uint32Array(words.length * SLOT_WORDS);
  for (const [index, one] of words.entries()) all.set(one, index * SLOT_WORDS);
  return all;
}

/** What the system refuses about an index (a full disk, a missing file, a read-only folder) concerns nobody: the transcript has it all. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
