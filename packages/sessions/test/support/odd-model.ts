/**
 * What every reader must make of an odd file, worked out from its labelled lines in the plainest way: which lines are
 * entries, what they hang on, what the model would be shown, and everything that has to be reported, with its place.
 */
import { canonical } from "@holdfast/base";
import type { Fields, Noted, OddFile } from "./oddities.ts";

interface Place {
  readonly line: number;
  readonly offset: number;
}

export interface Model {
  readonly header: "ok" | "missing" | "damaged";
  /** Ids in file order. */
  readonly entries: readonly string[];
  /** The lines that are entries. */
  readonly lines: readonly { readonly id: string; readonly isNamed: boolean; readonly isRepeated: boolean }[];
  readonly leaf: string | null;
  /** Ids of the entries that the model is shown, in order. */
  readonly context: readonly string[];
  readonly damaged: readonly (Place & { readonly bytes: number })[];
  readonly gaps: readonly (Place & { readonly id: string })[];
  /** Compactions that keep from an entry which is not above them. */
  readonly lost: readonly (Place & { readonly id: string })[];
  readonly duplicates: readonly (Place & { readonly id: string; readonly identical: boolean })[];
  readonly noted: Readonly<Partial<Record<Noted, Place & { readonly lines: number }>>>;
}

interface Node {
  readonly id: string;
  readonly fields: Fields;
  readonly parent: Node | null;
}

export function modelOf({ lines }: OddFile): Model {
  const nodes: Node[] = [];
  const found = {
    lines: [] as Model["lines"][number][],
    damaged: [] as Model["damaged"][number][],
    gaps: [] as Model["gaps"][number][],
    lost: [] as Model["lost"][number][],
    duplicates: [] as Model["duplicates"][number][],
    noted: {} as Record<string, Place & { lines: number }>,
  };
  let header: Model["header"] | null = null;
  let offset = 0;
  for (const [index, { bytes, holds, flawed, noted }] of lines.entries()) {
    const place = { line: index + 1, offset };
    offset += bytes.length + 1;
    for (const what of noted) found.noted[what] ??= { ...place, lines: 0 };
    for (const what of noted) found.noted[what]!.lines += 1;
    if (holds === "blank") continue;
    const isFirst = header === null;
    const isHeader = holds !== "damage" && holds.type === "session";
    header ??= holds === "damage" ? "damaged" : !isHeader ? "missing" : typeof holds.id === "string" ? "ok" : "damaged";
    if (holds === "damage" || flawed || (isHeader && !isFirst)) found.damaged.push({ ...place, bytes: bytes.length });
    if (holds !== "damage" && !isHeader) take(nodes, holds, place, found);
  }
  const leaf = nodes.at(-1) ?? null;
  const entries = nodes.map(({ id }) => id);
  return { header: header ?? "missing", entries, leaf: leaf?.id ?? null, context: contextOf(leaf), ...found };
}

function take(
  nodes: Node[],
  fields: Fields,
  place: Place,
  found: {
    lines: Model["lines"][number][];
    gaps: Model["gaps"][number][];
    lost: Model["lost"][number][];
    duplicates: Model["duplicates"][number][];
  },
): void {
  const before = nodes.at(-1) ?? null;
  const hasId = typeof fields.id === "string";
  const id = hasId ? String(fields.id) : `line-${place.line}`;
  const earlier = nodes.findLast((node) => node.id === id);
  const essence = (one: Fields): string => canonical({ ...one, g: null, timestamp: null });
  const identical = earlier !== undefined && essence(earlier.fields) === essence(fields);
  found.lines.push({ id, isNamed: hasId, isRepeated: identical });
  if (earlier !== undefined) found.duplicates.push({ id, identical, ...place });
  if (identical) return;
  const { parentId } = fields;
  const named = typeof parentId === "string" ? nodes.findLast((node) => node.id === parentId) : undefined;
  // Where nothing is said, whoever was first is a root, and whoever has no id either just follows.
  const isSilent = parentId === undefined && (before === null || !hasId);
  const isGap = parentId !== null && named === undefined && !isSilent;
  if (isGap) found.gaps.push({ id, ...place });
  const node = { id, fields, parent: parentId === null ? null : (named ?? before) };
  nodes.push(node);
  if (fields.type !== "compaction" || fields.firstKeptEntryId === id) return;
  if (!pathTo(node.parent).some((above) => above.id === fields.firstKeptEntryId)) found.lost.push({ id, ...place });
}

function pathTo(leaf: Node | null): Node[] {
  const path: Node[] = [];
  for (let node = leaf; node !== null; node = node.parent) path.unshift(node);
  return path;
}

function contextOf(leaf: Node | null): string[] {
  const path = pathTo(leaf);
  const last = path.findLastIndex(({ fields }) => fields.type === "compaction");
  const shown = (part: readonly Node[]): string[] => part.filter(isShown).map(({ id }) => id);
  const compaction = path[last];
  if (compaction === undefined) return shown(path);
  const above = path.slice(0, last);
  const wanted = compaction.fields.firstKeptEntryId;
  const kept = above.findLastIndex(({ id }) => id === wanted);
  const previous = above.findLastIndex(({ fields }) => fields.type === "compaction");
  const from = wanted === compaction.id ? above.length : kept === -1 ? previous + 1 : kept;
  return [compaction.id, ...shown(above.slice(from)), ...shown(path.slice(last + 1))];
}

function isShown({ fields: { type, message } }: Node): boolean {
  return type === "message" && typeof message === "object" && message !== null && "role" in message;
}
