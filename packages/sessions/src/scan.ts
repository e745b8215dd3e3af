/**
 * Entries of a log one after the other, without keeping the log in memory.
 * Invariant: damage is passed over, never an end; what a line says of itself is believed, so one that is there twice
 * comes twice. Memory holds one line at a time, but for entries without ids: only a reader of the whole file names them.
 */
import { type Entry, fieldsOf, isCustom, parseLine } from "./entry.ts";
import { readHeader } from "./reading/header.ts";
import { backward, forward, type RawLine } from "./reading/lines.ts";
import type { ByteSource } from "./reading/source.ts";
import { readWhole } from "./reading/whole.ts";

/** Entries in file order, from the line that begins at `from`. */
export async function* entriesForward(source: ByteSource, from = 0): AsyncGenerator<Entry> {
  const isNamed = (await readHeader(source)).version >= 2;
  let fence = 0;
  for await (const line of forward(source, from)) {
    const entry = isNamed ? entryOf(line) : "unnamed";
    if (entry === "unnamed") {
      yield* namedFrom(source, line.offset);
      return;
    }
    if (entry === undefined || (entry.g !== undefined && entry.g < fence)) continue;
    fence = Math.max(fence, fenceOf(entry));
    yield entry;
  }
}

/** Entries as far as they were read, with what the next reading has to know. */
export interface Reel {
  readonly entries: Entry[];
  /** Where the next line begins. */
  end: number;
  fence: number;
}

/**
 * As `entriesForward`, going on where the reel ends; of the same log, grown. Undefined: only a reader of the whole file can
 * name what is there, and the reel is of no use any more. A last line without its end is among the entries, not on the reel.
 */
export async function readOn(source: ByteSource, reel: Reel): Promise<readonly Entry[] | undefined> {
  for await (const line of forward(source, reel.end)) {
    const entry = entryOf(line);
    if (entry === "unnamed") return undefined;
    const stale = entry?.g !== undefined && entry.g < reel.fence;
    if (!line.ended) return entry === undefined || stale ? [...reel.entries] : [...reel.entries, entry];
    reel.end = line.offset + line.length + 1;
    if (entry === undefined || stale) continue;
    reel.fence = Math.max(reel.fence, fenceOf(entry));
    reel.entries.push(entry);
  }
  return [...reel.entries];
}

/** Entries from the end; stale lines are among them, because a fence is met too late. */
export async function* entriesBackward(source: ByteSource): AsyncGenerator<Entry> {
  const isNamed = (await readHeader(source)).version >= 2;
  for await (const line of backward(source)) {
    const entry = isNamed ? entryOf(line) : "unnamed";
    if (entry === "unnamed") {
      yield* namedBefore(source, line.offset);
      return;
    }
    if (entry !== undefined) yield entry;
  }
}

async function* namedFrom(source: ByteSource, offset: number): AsyncGenerator<Entry> {
  const whole = await readWhole(source);
  for (const [index, ref] of whole.tree.nodes.entries()) {
    if (ref.offset >= offset && !whole.isStale(index)) yield await whole.read(ref);
  }
}

async function* namedBefore(source: ByteSource, offset: number): AsyncGenerator<Entry> {
  const whole = await readWhole(source);
  for (const ref of whole.tree.nodes.toReversed()) if (ref.offset <= offset) yield await whole.read(ref);
}

/** Undefined: there is none on this line. */
function entryOf(line: RawLine): Entry | "unnamed" | undefined {
  const parsed = line.bytes === null ? undefined : parseLine(line.bytes);
  if (parsed?.kind === "anonymous") return "unnamed";
  return parsed?.kind === "entry" ? parsed.entry : undefined;
}

function fenceOf(entry: Entry): number {
  if (!isCustom(entry, "holdfast:fence")) return 0;
  const g = fieldsOf(entry).data;
  return typeof g === "object" && g !== null && "g" in g && typeof g.g === "number" ? g.g : 0;
}
