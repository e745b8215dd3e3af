/**
 * What a transcript says, read by rules written down here a second time: JSON lines, ids, parents, the last line is the
 * leaf. Shares no code with the engine that wrote it.
 */
import { isObject, tryParse } from "@holdfast/base";

export interface LineFact {
  readonly id: string;
  readonly parentId: string | null;
  readonly g: number | null;
  readonly kind: string;
}

export interface TranscriptFacts {
  readonly headerId: string | null;
  /** In file order. */
  readonly entries: readonly LineFact[];
  /** Lines that are neither blank nor a header nor an entry. */
  readonly damaged: number;
}

/** Bytes are never changed, so each are read once. */
const READ = new WeakMap<Buffer, TranscriptFacts>();

export function transcriptOf(bytes: Buffer): TranscriptFacts {
  const known = READ.get(bytes);
  if (known !== undefined) return known;
  const facts = read(bytes.toString("utf8"));
  READ.set(bytes, facts);
  return facts;
}

function read(text: string): TranscriptFacts {
  const lines = text
    .split("\n")
    .map(withoutNuls)
    .filter((line) => line.trim() !== "");
  const values = lines.map(tryParse);
  const header = values[0];
  const entries = values.flatMap((value) => (isObject(value) && typeof value.id === "string" ? [value] : []));
  const isHeader = isObject(header) && header.type === "session";
  const own = entries.filter(({ type }) => type !== "session");
  return {
    headerId: isHeader && typeof header.id === "string" ? header.id : null,
    entries: own.map(({ id, parentId, g, customType, type }) => ({
      id: String(id),
      parentId: typeof parentId === "string" ? parentId : null,
      g: typeof g === "number" ? g : null,
      kind: String(customType ?? type),
    })),
    damaged: values.length - own.length - (isHeader ? 1 : 0),
  };
}

/** What a power loss may leave before and after a line, or instead of one. */
export function withoutNuls(line: string): string {
  return line.replace(/^\0+|\0+$/g, "");
}

/** Without fences, and without what a writer put down whose lock was taken over: a smaller number after a fence. */
export function standing(entries: readonly LineFact[]): readonly LineFact[] {
  let fence = 0;
  return entries.filter(({ g, kind }) => {
    if (kind === "holdfast:fence") fence = Math.max(fence, g ?? 0);
    return kind !== "holdfast:fence" && (g === null || g >= fence);
  });
}

/** Ids from the leaf to the root; a parent that is not there is the nearest line before. */
export function pathOf(entries: readonly LineFact[]): readonly string[] {
  return ancestorsOf(entries, entries.length - 1);
}

/** Ids of the entry at `index` and of those above it, up to the root. */
export function ancestorsOf(entries: readonly LineFact[], index: number): readonly string[] {
  const path: string[] = [];
  for (let at = index; at >= 0; ) {
    const entry = entries[at];
    if (entry === undefined) break;
    path.push(entry.id);
    if (entry.parentId === null) break;
    const parent = entries.findLastIndex(({ id }, place) => place < at && id === entry.parentId);
    at = parent === -1 ? at - 1 : parent;
  }
  return path;
}
