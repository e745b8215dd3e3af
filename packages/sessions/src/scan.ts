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
      const whole = await readWhole(source);
      for (const [index, ref] of whole.tree.nodes.entries()) {
        if (ref.offset >= line.offset && !whole.isStale(index)) yield await whole.read(ref);
      }
      return;
    }
    if (entry === undefined || (entry.g !== undefined && entry.g < fence)) continue;
    fence = Math.max(fence, fenceOf(entry));
    yield entry;
  }
}

/** Entries from the end; stale lines are among them, because a fence is met too late. */
export async function* entriesBackward(source: ByteSource): AsyncGenerator<Entry> {
  const isNamed = (await readHeader(source)).version >= 2;
  for await (const line of backward(source)) {
    const entry = isNamed ? entryOf(line) : "unnamed";
    if (entry === "unnamed") {
      const whole = await readWhole(source);
      for (const ref of whole.tree.nodes.toReversed()) if (ref.offset <= line.offset) yield await whole.read(ref);
      return;
    }
    if (entry !== undefined) yield entry;
  }
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
