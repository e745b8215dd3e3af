/**
 * Questions about a tree of any size, answered without reading the transcript: only entries that are given out are read.
 * Iterative, and bounded: an answer that may be long comes in pages.
 */
import type { Entry, SessionInfoEntry } from "../entry.ts";
import { type Settings, settingsIn } from "../projection.ts";
import type { SessionLeaf } from "../types.ts";
import type { Outline } from "./outline.ts";

const NOTHING = -1;

/** Entries that hang on `node` (-1: roots), in file order, those after the node `after`. */
export async function childrenOf(
  tree: Outline,
  node: number,
  page: { readonly after: number; readonly limit: number },
): Promise<Entry[]> {
  const found: number[] = [];
  for (let at = Math.max(node, page.after) + 1; at < tree.size && found.length < page.limit; at++) {
    if (tree.parentOf(at) === node && !tree.isPassedOver(at)) found.push(at);
  }
  return tree.readAll(found);
}

/** Entries above `node`, the nearest first. */
export async function ancestorsOf(tree: Outline, node: number, limit: number): Promise<Entry[]> {
  const found: number[] = [];
  let at = tree.parentOf(node);
  for (; at !== NOTHING && found.length < limit; at = tree.parentOf(at)) found.push(at);
  return tree.readAll(found);
}

/** The deepest node that is on both paths (a node is on its own), or -1. */
export function commonAncestorOf(tree: Outline, a: number, b: number): number {
  // A parent's number is smaller than its child's: the larger of two can never be above the other.
  let [left, right] = [a, b];
  while (left !== right) {
    if (left > right) left = tree.parentOf(left);
    else right = tree.parentOf(right);
  }
  return left;
}

/** Up to `limit` entries that stand before `node` in the file, oldest first. */
export async function pageBefore(tree: Outline, node: number, limit: number): Promise<Entry[]> {
  const found: number[] = [];
  for (let at = node - 1; at >= 0 && found.length < limit; at--) if (!tree.isPassedOver(at)) found.push(at);
  return tree.readAll(found.reverse());
}

/** The ends of branches, the latest activity first; of two at the same time the later in the file. */
export async function leavesOf(tree: Outline, limit: number): Promise<SessionLeaf[]> {
  const current = await tree.leaf();
  const latest = leafNodes(tree)
    .map((node) => ({ node, timeMs: Number.isNaN(tree.timeOf(node)) ? 0 : tree.timeOf(node) }))
    .sort((a, b) => b.timeMs - a.timeMs || b.node - a.node)
    .slice(0, limit);
  const entries = await tree.readAll(latest.map(({ node }) => node));
  return entries.map((entry, index) => ({ entry, current: latest[index]?.node === current }));
}

function leafNodes(tree: Outline): number[] {
  const isInner = new Uint8Array(tree.size);
  for (let node = 0; node < tree.size; node++) {
    const parent = tree.isPassedOver(node) ? NOTHING : tree.parentOf(node);
    if (parent !== NOTHING) isInner[parent] = 1;
  }
  const leaves: number[] = [];
  for (let node = 0; node < tree.size; node++) if (isInner[node] === 0 && !tree.isPassedOver(node)) leaves.push(node);
  return leaves;
}

/** Model and thinking level on the path to `node`, however far back they were set. */
export async function settingsAt(tree: Outline, node: number): Promise<Settings> {
  let known: Settings = { model: null, thinkingLevel: null };
  for (let at = node; at !== NOTHING; at = tree.parentOf(at)) {
    const type = tree.typeOf(at);
    const isLevel = type === "thinking_level_change" && known.thinkingLevel === null;
    const isModel = (type === "message" || type === "model_change") && known.model === null;
    if (!isLevel && !isModel && type !== "compaction") continue;
    const here = settingsIn([await tree.read(at)]);
    known = { model: known.model ?? here.model, thinkingLevel: known.thinkingLevel ?? here.thinkingLevel };
    if (known.model !== null && known.thinkingLevel !== null) break;
  }
  return known;
}

/** What the conversation was called last, on whatever branch. */
export async function nameIn(tree: Outline): Promise<string | null> {
  for (let at = tree.size - 1; at >= 0; at--) {
    if (tree.typeOf(at) !== "session_info" || tree.isPassedOver(at)) continue;
    const { name } = (await tree.read(at)) as SessionInfoEntry;
    const given = typeof name === "string" ? name.trim() : "";
    return given === "" ? null : given;
  }
  return null;
}
