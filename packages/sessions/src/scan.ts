/**
 * Entries of a log one after the other, without keeping the log in memory.
 * Invariant: memory holds one line at a time; damage is passed over, never an end.
 */
import { derivedId, type Entry, fieldsOf, identify, isCustom, parseLine } from "./entry.ts";
import { readHeader } from "./reading/header.ts";
import { backward, forward, type RawLine } from "./reading/lines.ts";
import type { ByteSource } from "./reading/source.ts";
import { readWhole } from "./reading/whole.ts";

/** Entries in file order, from the line that begins at `from`. */
export async function* entriesForward(source: ByteSource, from = 0): AsyncGenerator<Entry> {
  if ((await readHeader(source)).version < 2) {
    yield* linearEntries(source, from);
    return;
  }
  const naming = { line: 0, before: null as string | null, fence: 0 };
  for await (const line of forward(source, from)) {
    naming.line += 1;
    const entry = entryOf(line, from === 0 ? naming : undefined);
    if (entry === undefined || (entry.g !== undefined && entry.g < naming.fence)) continue;
    naming.before = entry.id;
    naming.fence = Math.max(naming.fence, fenceOf(entry));
    yield entry;
  }
}

/** Entries of the first version have no ids: only a reader of the whole file can name them. */
async function* linearEntries(source: ByteSource, from: number): AsyncGenerator<Entry> {
  const whole = await readWhole(source);
  for (const ref of whole.tree.nodes) if (ref.offset >= from) yield await whole.read(ref);
}

/** Entries from the end; stale lines are among them, because a fence is met too late. */
export async function* entriesBackward(source: ByteSource): AsyncGenerator<Entry> {
  if ((await readHeader(source)).version < 2) {
    const whole = await readWhole(source);
    for (const ref of whole.tree.nodes.toReversed()) yield await whole.read(ref);
    return;
  }
  for await (const line of backward(source)) {
    const entry = entryOf(line, undefined);
    if (entry !== undefined) yield entry;
  }
}

function entryOf(line: RawLine, naming: { line: number; before: string | null } | undefined): Entry | undefined {
  if (line.bytes === null) return undefined;
  const parsed = parseLine(line.bytes);
  if (parsed.kind === "entry") return parsed.entry;
  if (parsed.kind !== "anonymous" || naming === undefined) return undefined;
  const { parentId } = parsed.fields;
  const parent = parentId === undefined ? naming.before : typeof parentId === "string" ? parentId : null;
  return identify(parsed.fields, derivedId(naming.line), parent);
}

function fenceOf(entry: Entry): number {
  if (!isCustom(entry, "holdfast:fence")) return 0;
  const g = fieldsOf(entry).data;
  return typeof g === "object" && g !== null && "g" in g && typeof g.g === "number" ? g.g : 0;
}
