/**
 * The slots that a sidecar index is made of: forty bytes for each entry of a transcript, and between them stamps that say
 * what the file looked like when everything before was true.
 *
 * Invariant: a slot of an entry depends on its own line alone, so slots can be added at the end by somebody who has not
 * read the others; nothing in here is content: what is looked up is always read from the transcript.
 */

export const SLOT_WORDS = 10;
export const SLOT_BYTES = 4 * SLOT_WORDS;

/** Types by their number in a slot; 0 stands for every other one. */
export const KINDS = [
  "",
  "message",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
  "usage",
  "context_edit",
] as const;
export const STAMP_KIND = 0xff;

/** `parentId` is null; it is an id; neither: there is no link that could be followed. */
export const ROOT = 1;
export const LINKED = 2;

// Words of a slot. The upper halves of two words hold small numbers.
const ID = 0;
const PARENT = 2;
const OFFSET = 4;
const OFFSET_HIGH = 5;
const LENGTH = 6;
const TIME = 7;
const TIME_HIGH = 8;

const TWO_32 = 2 ** 32;
const NO_TIME = 2 ** 48 - 1;

/** Two words that stand for an id. Different ids may have the same: whoever finds one reads the line. */
export interface IdHash {
  low: number;
  high: number;
}

/** What a slot says of the line of an entry. */
export interface Slot {
  readonly id: IdHash;
  readonly parent: IdHash;
  kind: number;
  link: number;
  /** Bytes, from the beginning of the file; the length is without the line end. */
  offset: number;
  length: number;
  /** Milliseconds since 1970, or NaN. */
  timeMs: number;
}

export function emptySlot(): Slot {
  const none = () => ({ low: 0, high: 0 });
  return { id: none(), parent: none(), kind: 0, link: 0, offset: 0, length: 0, timeMs: Number.NaN };
}

/** Digests bytes `from` to `to` into `into`, four at a time. */
export function hashBytes(bytes: Uint8Array, from: number, to: number, into: IdHash): void {
  let low = 0x811c9dc5 ^ (to - from);
  let high = 0x2545f491;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    low = Math.imul(low ^ four, 0x85ebca6b);
    low ^= low >>> 15;
    high = Math.imul(high ^ four, 0xc2b2ae35);
    high ^= high >>> 13;
  }
  for (; at < to; at++) {
    low = Math.imul(low ^ bytes[at]!, 0x85ebca6b);
    high = Math.imul(high ^ bytes[at]!, 0xc2b2ae35);
  }
  low = Math.imul(low ^ (low >>> 16), 0x2c1b3c6d);
  high = Math.imul(high ^ (high >>> 16), 0x297a2d39);
  into.low = (low ^ (low >>> 15)) >>> 0;
  into.high = (high ^ (high >>> 14)) >>> 0;
}

export function hashOf(id: string): IdHash {
  const hash = { low: 0, high: 0 };
  const bytes = Buffer.from(id);
  hashBytes(bytes, 0, bytes.length, hash);
  return hash;
}

/** Writes a slot at `at` (in words). */
export function putSlot(words: Uint32Array, at: number, slot: Slot): void {
  const time = Number.isNaN(slot.timeMs) ? NO_TIME : slot.timeMs;
  words[at + ID] = slot.id.low;
  words[at + ID + 1] = slot.id.high;
  words[at + PARENT] = slot.parent.low;
  words[at + PARENT + 1] = slot.parent.high;
  words[at + OFFSET] = slot.offset >>> 0;
  words[at + OFFSET_HIGH] = Math.floor(slot.offset / TWO_32) | (slot.kind << 16) | (slot.link << 24);
  words[at + LENGTH] = slot.length;
  words[at + TIME] = time >>> 0;
  words[at + TIME_HIGH] = Math.floor(time / TWO_32);
  words[at + 9] = 0;
}

export function kindAt(words: Uint32Array, at: number): number {
  return (words[at + OFFSET_HIGH]! >>> 16) & 0xff;
}
export function linkAt(words: Uint32Array, at: number): number {
  return words[at + OFFSET_HIGH]! >>> 24;
}
export function offsetAt(words: Uint32Array, at: number): number {
  return words[at + OFFSET]! + (words[at + OFFSET_HIGH]! & 0xffff) * TWO_32;
}
export function lengthAt(words: Uint32Array, at: number): number {
  return words[at + LENGTH]!;
}
export function timeAt(words: Uint32Array, at: number): number {
  const time = words[at + TIME]! + (words[at + TIME_HIGH]! & 0xffff) * TWO_32;
  return time === NO_TIME ? Number.NaN : time;
}

/** What a file looked like: the same numbers mean the same bytes, since no write leaves the times as they were. */
export interface FileMark {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

function putBig(words: Uint32Array, at: number, value: bigint): void {
  words[at] = Number(value & 0xffffffffn);
  words[at + 1] = Number((value >> 32n) & 0xffffffffn);
}

/** A stamp: everything before it describes the file as `mark` says. `sum` is the checksum of all slots before. */
export function stampOf(mark: FileMark, sum: number): Uint32Array {
  const words = new Uint32Array(SLOT_WORDS);
  putBig(words, 0, mark.mtimeNs);
  putBig(words, 2, mark.ctimeNs);
  words[OFFSET] = mark.size % TWO_32;
  words[OFFSET_HIGH] = Math.floor(mark.size / TWO_32) | (STAMP_KIND << 16);
  putBig(words, 6, mark.ino);
  words[8] = Number(mark.dev & 0xffffffffn);
  words[9] = sum;
  return words;
}

/** Whether this slot is the stamp of that mark. */
export function isStampOf(words: Uint32Array, at: number, mark: FileMark): boolean {
  const stamp = stampOf(mark, words[at + 9]!);
  return stamp.every((word, index) => word === words[at + index]);
}
export function sumAt(words: Uint32Array, at: number): number {
  return words[at + 9]!;
}
