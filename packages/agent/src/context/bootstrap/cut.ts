/**
 * A text that is too long, as its head and its tail with a note between them how to read the rest. Pure.
 * Invariant: what comes out is never longer than asked for, and never holds half a character.
 */

export interface Cut {
  readonly text: string;
  /** Characters (UTF-16 units) that were left out; 0: nothing. */
  readonly left: number;
}

/** Of what is kept, this much is the beginning. */
const HEAD_SHARE = 0.75;
/** Below this, head and tail would be scraps: only the note stays. */
const KEPT_MIN = 64;

/** At most `max` characters of the file `name`, in whole lines where lines are not too long for that. */
export function cutTo(text: string, max: number, name: string): Cut {
  if (text.length <= max) return { text, left: 0 };
  const lines = lineCount(text);
  const longest = note({ name, from: lines, to: lines + 1, lines, left: text.length });
  const room = max - longest.length - 2;
  if (room < KEPT_MIN) return { text: fitting(`[cut here: read ${name}]`, max), left: text.length };
  const head = headOf(text, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(text, room - Math.floor(room * HEAD_SHARE));
  const from = lineCount(head) + (text[head.length] === "\n" ? 1 : 0);
  const to = lines - lineCount(tail) + (text[text.length - tail.length - 1] === "\n" ? 0 : 1);
  const left = text.length - head.length - tail.length;
  return { text: `${head}\n${note({ name, from, to, lines, left })}\n${tail}`, left };
}

interface Gap {
  readonly name: string;
  /** Lines from 1: the first and the last of which something is missing. */
  readonly from: number;
  readonly to: number;
  readonly lines: number;
  readonly left: number;
}

function note({ name, from, to, lines, left }: Gap): string {
  const where = from >= to ? `line ${from}` : `lines ${from} to ${to}`;
  return `[cut here: ${left} characters of ${where} (of ${lines}) are left out; read ${name} with offset ${from} for them]`;
}

/** Whole lines from the beginning, unless that would give away more than half of the room. */
function headOf(text: string, room: number): string {
  const end = text.lastIndexOf("\n", room);
  return end > room / 2 ? text.slice(0, end) : text.slice(0, wholeBefore(text, room));
}

function tailOf(text: string, room: number): string {
  const at = text.length - room;
  const start = text.indexOf("\n", at - 1) + 1;
  const isNear = start > 0 && text.length - start > room / 2;
  return text.slice(isNear ? start : wholeAfter(text, at));
}

/** The place itself, or one before it where it would part a pair. */
function wholeBefore(text: string, at: number): number {
  return isPair(text, at) ? at - 1 : at;
}
function wholeAfter(text: string, at: number): number {
  return isPair(text, at) ? at + 1 : at;
}
function isPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
}
function isBetween(unit: number, low: number, high: number): boolean {
  return unit >= low && unit <= high;
}

function fitting(text: string, max: number): string {
  return text.length <= max ? text : "";
}

function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
