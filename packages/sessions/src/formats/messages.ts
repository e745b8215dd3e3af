/**
 * A transcript as messages: the JSON export, one message a line, and the older, flat layout. Both hold all branches.
 * Invariant: a parent stands before its children and is always one of the messages written.
 */
import type { Entry } from "../entry.ts";
import type { EntryRef } from "../reading/whole.ts";
import type { Tree } from "../tree.ts";
import { toFlat, toStored } from "./stored.ts";
import type { Survey } from "./survey.ts";

/** `about` becomes `session`. The text is one JSON value; each message has a line of its own. */
export async function* jsonOf(survey: Survey, about: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  const { tree, leaf, read } = survey.whole;
  const nearest = nearestAbove(tree, (index) => survey.isMessage[index] === true);
  const idOf = (index: number): string | null => tree.nodes[nearest[index] ?? -1]?.id ?? null;
  yield `{"session":${JSON.stringify(about)},"leaf":${JSON.stringify(idOf(leaf))},"messages":[\n`;
  let separator = "";
  for (const [index, ref] of tree.nodes.entries()) {
    if (survey.isMessage[index] !== true) continue;
    const parentId = idOf(tree.parentOf(index));
    yield `${separator}${JSON.stringify(toStored(linked(await read(ref), parentId), parentId))}`;
    separator = ",\n";
  }
  yield "\n]}\n";
}

function linked(entry: Entry, parentId: string | null): Entry {
  return { ...entry, parentId };
}

/** By index: the nearest wanted entry at or above it, or -1. */
function nearestAbove(tree: Tree<EntryRef>, isWanted: (index: number) => boolean): readonly number[] {
  const nearest: number[] = [];
  for (const index of tree.nodes.keys()) {
    nearest.push(isWanted(index) ? index : (nearest[tree.parentOf(index)] ?? -1));
  }
  return nearest;
}

/** `channel` is written where a message does not say its own. */
export async function* flatOf(survey: Survey, channel: string | undefined): AsyncGenerator<string> {
  const { tree, read } = survey.whole;
  const plan = planFlat(survey);
  for (const index of plan.order) {
    const { id, parent, originalCount } = plan.places[index]!;
    const parentId = parent === -1 ? null : plan.places[parent]!.id;
    const place = { id, parentId, channel, ...(originalCount === undefined ? {} : { originalCount }) };
    yield `${JSON.stringify(toFlat(await read(tree.nodes[index]!), place))}\n`;
  }
}

interface FlatSpot {
  readonly id: string;
  /** Index of the parent in this layout, or -1. */
  readonly parent: number;
  readonly originalCount?: number;
}

/**
 * Summaries are roots here. One that keeps nothing is the parent of what follows it; one that keeps something stands
 * alone, and what follows it goes on from the messages before.
 */
function planFlat(survey: Survey): {
  readonly places: readonly (FlatSpot | undefined)[];
  readonly order: readonly number[];
} {
  const { tree, leaf } = survey.whole;
  const current = new Set(tree.pathTo(leaf));
  const ids = new Set(tree.nodes.map((ref) => ref.id));
  const nearest: number[] = [];
  const depth: number[] = [];
  const places: (FlatSpot | undefined)[] = [];
  let summaries = 0;
  for (const [index, ref] of tree.nodes.entries()) {
    const above = nearest[tree.parentOf(index)] ?? -1;
    nearest.push(survey.isMessage[index] === true ? index : above);
    depth.push(0);
    places.push(undefined);
    if (survey.isMessage[index] !== true) continue;
    if (ref.type !== "compaction") {
      depth[index] = (depth[above] ?? 0) + 1;
      places[index] = { id: ref.id, parent: above };
      continue;
    }
    const kept = nearest[tree.indexOf(ref.firstKeptEntryId ?? "")] ?? -1;
    const wasNamed = survey.flatSummaries.get(index);
    const keepsSome = wasNamed === undefined ? current.has(ref) && kept !== -1 && kept < index : !wasNamed;
    depth[index] = 1;
    if (keepsSome) nearest[index] = above;
    const originalCount = keepsSome ? Math.max(0, (depth[kept] ?? 1) - 1) : (depth[above] ?? 0);
    places[index] = {
      id: wasNamed === undefined ? freeId(ref.id, ++summaries, ids) : ref.id,
      parent: -1,
      originalCount,
    };
  }
  return { places, order: orderOf(places, nearest[leaf] ?? -1) };
}

/** File order, with the message that the conversation stands at as the last: there it is where one goes on. */
function orderOf(places: readonly (FlatSpot | undefined)[], leaf: number): readonly number[] {
  const order = [...places.keys()].filter((index) => places[index] !== undefined);
  const isParent = places.some((place) => place?.parent === leaf);
  return leaf === -1 || isParent ? order : [...order.filter((index) => index !== leaf), leaf];
}

function freeId(id: string, number: number, ids: ReadonlySet<string>): string {
  if (id.startsWith("compact_")) return id;
  const plain = `compact_${String(number).padStart(3, "0")}`;
  return ids.has(plain) ? `compact_${id}` : plain;
}
