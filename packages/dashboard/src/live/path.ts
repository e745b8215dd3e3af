/**
 * The current path of a transcript as a client keeps it: what the stream adds, and where the leaf stands.
 * Invariant: the result is either exactly the path to the leaf or null ("I cannot know"); never a path with a hole.
 */
import type { WireSnapshot } from "@holdfast/gateway/wire";

export type Entry = WireSnapshot["entries"][number];

export interface Path {
  /** Root or oldest known first. */
  readonly entries: readonly Entry[];
  /** Known, off the path. */
  readonly aside: readonly Entry[];
  /** The path now begins at a root that is known, so there is nothing older to ask for. */
  readonly rerooted: boolean;
}

/** Takes in `added`; the leaf is `leaf`, or the last added entry. Null: an ancestor is unknown. */
export function addEntries(
  path: readonly Entry[],
  aside: readonly Entry[],
  added: readonly Entry[],
  leaf: string | null,
): Path | null {
  const news = new Map(added.map((entry) => [entry.id, entry]));
  const onPath = new Map(path.map((entry, index) => [entry.id, index]));
  // An entry may come twice, first provisional and then durable: the later copy wins, in its old place.
  const current = path.map((entry) => news.get(entry.id) ?? entry);
  const known = new Map([...aside, ...added].map((entry) => [entry.id, entry]));
  const walked = walkBack(leaf ?? added.at(-1)?.id ?? path.at(-1)?.id ?? null, onPath, known);
  if (walked === null) return null;
  const entries = [...current.slice(0, walked.joins + 1), ...walked.entries];
  const used = new Set(entries.map((entry) => entry.id));
  const left = [...current, ...known.values()].filter((entry) => !used.has(entry.id));
  return { entries, aside: left, rerooted: walked.joins < 0 && walked.entries.length > 0 };
}

/** From `leaf` back to the entry at index `joins` of the path; -1 when it ends at a root instead. */
function walkBack(
  leaf: string | null,
  onPath: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, Entry>,
): { readonly entries: readonly Entry[]; readonly joins: number } | null {
  const entries: Entry[] = [];
  const visited = new Set<string>();
  let id = leaf;
  while (id !== null) {
    const joins = onPath.get(id);
    if (joins !== undefined) return { entries: entries.reverse(), joins };
    const entry = known.get(id);
    if (entry === undefined || visited.has(id)) return null;
    visited.add(id);
    entries.push(entry);
    id = entry.parentId;
  }
  return { entries: entries.reverse(), joins: -1 };
}
