/**
 * From a line to its slot, reading no further than the small fields that come first.
 *
 * A line that begins as `encodeEntry` and Pi write it is judged by its first bytes; every other one is parsed. A line
 * that was torn off (it does not end as an object does) is parsed too, so it never passes for an entry.
 * Invariant: what is answered of a whole line is what `parseLine` would answer.
 */
import { fieldsOf, isCustom, parseLine } from "../entry.ts";
import { hashBytes, KINDS, LINKED, ROOT, type Slot } from "./slots.ts";

/** An entry, now in the slot; or no entry; or something that only a reader of the whole file can place. */
export type Head = "entry" | "other" | "odd";

const QUOTE = 0x22;
const BRACE = 0x7d;
const TYPE = Buffer.from('{"type":"');
const ID = Buffer.from('","id":"');
const PARENT = Buffer.from('","parentId":');
const NULL = Buffer.from("null");
const TIME = Buffer.from(',"timestamp":"');
const FENCE = "holdfast:fence";
const NAMES = KINDS.map((kind) => Buffer.from(kind));
const NAME_BYTES_MAX = 128;

/** Reads the line `bytes[from, to)` that stands at `offset` of its file. */
export function readHead(bytes: Buffer, from: number, to: number, offset: number, slot: Slot): Head {
  slot.offset = offset;
  slot.length = to - from;
  if (bytes[to - 1] === BRACE && quickHead(bytes, from, to, slot)) {
    return slot.kind === CUSTOM && isFence(bytes.subarray(from, to)) ? "odd" : "entry";
  }
  return slowHead(bytes.subarray(from, to), slot);
}

const CUSTOM = KINDS.indexOf("custom");

function isFence(line: Buffer): boolean {
  if (!line.includes(FENCE)) return false;
  const parsed = parseLine(line);
  return parsed.kind === "entry" && isCustom(parsed.entry, FENCE);
}

/** Every step goes on where the one before ended, and says -1 where the line is not as expected. */
function quickHead(bytes: Buffer, from: number, to: number, slot: Slot): boolean {
  const typeAt = after(bytes, from, TYPE);
  const typeEnd = typeAt === -1 ? -1 : plainEnd(bytes, typeAt, to);
  if (typeEnd === -1) return false;
  slot.kind = kindOf(bytes, typeAt, typeEnd);
  const idAt = after(bytes, typeEnd, ID);
  const idEnd = slot.kind === -1 || idAt === -1 ? -1 : plainEnd(bytes, idAt, to);
  if (idEnd <= idAt) return false;
  hashBytes(bytes, idAt, idEnd, slot.id);
  const linkEnd = quickLink(bytes, after(bytes, idEnd, PARENT), to, slot);
  const timeBegin = linkEnd === -1 ? -1 : after(bytes, linkEnd, TIME);
  return timeBegin !== -1 && quickTime(bytes, timeBegin, to, slot);
}

function quickTime(bytes: Buffer, from: number, to: number, slot: Slot): boolean {
  slot.timeMs = bytes[from + TIME_BYTES] === QUOTE ? isoTime(bytes, from) : Number.NaN;
  if (!Number.isNaN(slot.timeMs)) return true;
  const end = plainEnd(bytes, from, to);
  if (end === -1) return false;
  slot.timeMs = inRange(Date.parse(bytes.toString("latin1", from, end)));
  return true;
}

/** Where the link ends, or -1. */
function quickLink(bytes: Buffer, at: number, to: number, slot: Slot): number {
  if (at === -1) return -1;
  if (bytes[at] === QUOTE) {
    const end = plainEnd(bytes, at + 1, to);
    if (end <= at + 1) return -1;
    slot.link = LINKED;
    hashBytes(bytes, at + 1, end, slot.parent);
    return end + 1;
  }
  slot.link = ROOT;
  return after(bytes, at, NULL);
}

/** Where `what` ends if it stands at `at`, or -1. */
function after(bytes: Buffer, at: number, what: Uint8Array): number {
  const { length } = what;
  for (let index = 0; index < length; index++) if (bytes[at + index] !== what[index]) return -1;
  return at + length;
}

/** Where a text without escapes ends, or -1: such bytes are the text itself. */
function plainEnd(bytes: Buffer, from: number, to: number): number {
  const limit = Math.min(to, from + NAME_BYTES_MAX);
  for (let at = from; at < limit; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte < 0x20 || byte > 0x7e || byte === 0x5c) return -1;
  }
  return -1;
}

/** The number of a type that is known; 0 for one that is not; -1 for no type of an entry. */
function kindOf(bytes: Buffer, from: number, to: number): number {
  for (let kind = 1; kind < NAMES.length; kind++) {
    if (after(bytes, from, NAMES[kind]!) === to) return kind;
  }
  return to === from || bytes.toString("latin1", from, to) === "session" ? -1 : 0;
}

const TIME_BYTES = 24;

/** Milliseconds of `YYYY-MM-DDTHH:MM:SS.mmmZ`, computed; NaN for anything else. */
function isoTime(bytes: Buffer, from: number): number {
  if (!isDateTime(bytes, from)) return Number.NaN;
  const hour = twoDigits(bytes, from + 11);
  const minute = twoDigits(bytes, from + 14);
  const second = twoDigits(bytes, from + 17);
  const milli = digit(bytes, from + 20) * 100 + twoDigits(bytes, from + 21);
  if (!(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
  return (daysAt(bytes, from) * 24 * 60 + hour * 60 + minute) * 60_000 + second * 1000 + milli;
}

function isDateTime(bytes: Buffer, from: number): boolean {
  const isDate = bytes[from + 4] === 0x2d && bytes[from + 7] === 0x2d && bytes[from + 10] === 0x54;
  return (
    isDate &&
    bytes[from + 13] === 0x3a &&
    bytes[from + 16] === 0x3a &&
    bytes[from + 19] === 0x2e &&
    bytes[from + 23] === 0x5a
  );
}

/** NaN for what is no digit. */
function digit(bytes: Buffer, at: number): number {
  const value = bytes[at]! - 0x30;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}
function twoDigits(bytes: Buffer, at: number): number {
  return digit(bytes, at) * 10 + digit(bytes, at + 1);
}

/** Days from 1970-01-01, or NaN. Years are counted from March, so that a leap day is the last of its year. */
function daysAt(bytes: Buffer, from: number): number {
  const year = twoDigits(bytes, from) * 100 + twoDigits(bytes, from + 2);
  const month = twoDigits(bytes, from + 5);
  const day = twoDigits(bytes, from + 8);
  // The last days of a month are left to the parser, which knows how long each is.
  if (!(year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 28)) return Number.NaN;
  const y = month > 2 ? year : year - 1;
  const m = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + Math.floor((153 * m + 2) / 5) + day - 1 - 719_468;
}

function inRange(timeMs: number): number {
  return timeMs >= 0 && timeMs < 2 ** 47 ? timeMs : Number.NaN;
}

function slowHead(line: Buffer, slot: Slot): Head {
  const parsed = parseLine(line);
  if (parsed.kind === "anonymous") return "odd";
  if (parsed.kind !== "entry") return "other";
  if (isCustom(parsed.entry, FENCE)) return "odd";
  const { id, type, parentId, timestamp } = fieldsOf(parsed.entry);
  setText(String(id), slot.id);
  slot.kind = Math.max(0, KINDS.indexOf(type as (typeof KINDS)[number]));
  slot.link = parentId === null ? ROOT : typeof parentId === "string" && parentId !== "" ? LINKED : 0;
  setText(typeof parentId === "string" ? parentId : "", slot.parent);
  slot.timeMs = typeof timestamp === "string" ? inRange(Date.parse(timestamp)) : Number.NaN;
  return "entry";
}

function setText(text: string, into: Slot["id"]): void {
  const bytes = Buffer.from(text);
  hashBytes(bytes, 0, bytes.length, into);
}
