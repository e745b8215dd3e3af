/**
 * The tree as people see it: what was said, without the lines that only keep the books. Questions are answered from places
 * and types; only what is shown is read, and the labels.
 *
 * Invariant: everything that was ever said is on the way to one of `endsOf`, whatever was branched, edited or left.
 */
import { type Entry, isCustom, isMessage } from "../entry.ts";
import { noteLabel } from "../labels.ts";
import { excerptOf } from "../text.ts";
import type { BranchChild, BranchEnd } from "../types.ts";
import type { Outline } from "./outline.ts";

const NOTHING = -1;
const SAID: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary"]);
/** Ends, or labels, whose entries are in memory at the same time. */
const TOGETHER = 100;

/** Numbers for each node; -1 stands for "nothing". */
export interface SaidTree {
  /** The last thing said at or above it. */
  readonly tips: Int32Array;
  /** Of a thing said: the one before it, how many were said right after it, how many there are from the root to here. */
  readonly before: Int32Array;
  readonly next: Int32Array;
  readonly depth: Int32Array;
  /** Of a thing said: the last node of its branch before something else was said. Of that one: the one before, and so on. */
  readonly last: Int32Array;
  readonly trail: Int32Array;
}

export function saidIn(tree: Outline): SaidTree {
  const empty = (): Int32Array => new Int32Array(tree.size);
  const said = { tips: empty(), before: empty(), next: empty(), depth: empty(), last: empty(), trail: empty() };
  for (let node = 0; node < tree.size; node++) place(tree, said, node);
  return said;
}

function place(tree: Outline, { tips, before, next, depth, last, trail }: SaidTree, node: number): void {
  const parent = tree.parentOf(node);
  const above = parent === NOTHING ? NOTHING : tips[parent]!;
  tips[node] = above;
  if (tree.isPassedOver(node)) return;
  if (isSaid(tree, node)) {
    tips[node] = node;
    before[node] = above;
    depth[node] = above === NOTHING ? 1 : depth[above]! + 1;
    if (above !== NOTHING) next[above]! += 1;
  }
  const tip = tips[node]!;
  if (tip === NOTHING) return;
  trail[node] = tip === node ? NOTHING : last[tip]!;
  last[tip] = node;
}

function isSaid(tree: Outline, node: number): boolean {
  return SAID.has(tree.typeOf(node)) && !tree.isPassedOver(node);
}

/** Everything said that nothing was said after, in file order. */
export function endNodes(tree: Outline, { next }: SaidTree): readonly number[] {
  const ends: number[] = [];
  for (let node = 0; node < tree.size; node++) if (isSaid(tree, node) && next[node] === 0) ends.push(node);
  return ends;
}

/** Ends in file order, those after `after`; and where the conversation stands even if more was said below. */
export async function endsOf(
  tree: Outline,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<BranchEnd[]> {
  const said = saidIn(tree);
  const current = await tree.leaf();
  const here = current === NOTHING ? NOTHING : said.tips[current]!;
  const from = after === NOTHING ? NOTHING : said.tips[after]!;
  const tips: number[] = [];
  for (let node = from + 1; node < tree.size && tips.length < limit; node++) {
    if (isSaid(tree, node) && (node === here || said.next[node] === 0)) tips.push(node);
  }
  const ends: BranchEnd[] = [];
  const labels = tips.length === 0 ? new Map<string, string>() : await labelsIn(tree);
  for (let at = 0; at < tips.length; at += TOGETHER) {
    ends.push(...(await showEnds(tree, said, { tips: tips.slice(at, at + TOGETHER), here, current, labels })));
  }
  return ends;
}

interface Shown {
  readonly tips: readonly number[];
  readonly here: number;
  readonly current: number;
  readonly labels: ReadonlyMap<string, string>;
}

async function showEnds(tree: Outline, said: SaidTree, { tips, here, current, labels }: Shown): Promise<BranchEnd[]> {
  const places: { readonly tip: number; readonly end: number; readonly first: number }[] = [];
  for (const tip of tips) {
    const end = tip === here ? current : await endOf(tree, said, tip);
    places.push({ tip, end, first: firstOwn(said, tip, here) });
  }
  const entries = await entriesOf(
    tree,
    places.flatMap(({ tip, end, first }) => [tip, end, first]),
  );
  return places.flatMap(({ tip, end, first }) => {
    const [spoken, ended, begun] = [entries.get(tip), entries.get(end), entries.get(first)];
    if (spoken === undefined || ended === undefined || begun === undefined) return [];
    return {
      id: ended.id,
      current: tip === here,
      lastActivity: timeOf(tree, tip),
      depth: said.depth[tip]!,
      differs: childOf(begun),
      label: labels.get(ended.id) ?? labels.get(spoken.id) ?? null,
    };
  });
}

/** Entries by their nodes. */
export async function entriesOf(tree: Outline, nodes: readonly number[]): Promise<ReadonlyMap<number, Entry>> {
  const distinct = [...new Set(nodes)];
  const entries = await tree.readAll(distinct);
  return new Map(distinct.map((node, index) => [node, entries[index]!]));
}

/** Where a branch goes on: its last line, so that what was changed on it comes along. Nobody goes on from a move by name. */
async function endOf(tree: Outline, { last, trail }: SaidTree, tip: number): Promise<number> {
  for (let node = last[tip]!; node !== tip; node = trail[node]!) {
    const isMove = tree.typeOf(node) === "custom" && isCustom(await tree.read(node), "holdfast:leaf");
    if (!isMove) return node;
  }
  return tip;
}

/** Up from a tip to the first thing said after the last fork above it; going on from `here` makes a fork there. */
function firstOwn({ before, next }: SaidTree, tip: number, here: number): number {
  let at = tip;
  for (;;) {
    const above = before[at]!;
    if (above === NOTHING || above === here || next[above]! > 1) return at;
    at = above;
  }
}

function timeOf(tree: Outline, node: number): string {
  const timeMs = tree.timeOf(node);
  return Number.isNaN(timeMs) ? "" : new Date(timeMs).toISOString();
}

function childOf(entry: Entry): BranchChild {
  return { id: entry.id, role: isMessage(entry) ? entry.message.role : null, words: excerptOf(entry) };
}

/** What was said next after a node (-1: what was said first), on all branches, in file order, after the node `after`. */
export async function saidAfter(
  tree: Outline,
  node: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<BranchChild[]> {
  const { tips, before } = saidIn(tree);
  const tip = node === NOTHING ? NOTHING : tips[node]!;
  const found: number[] = [];
  for (let at = Math.max(tip, after) + 1; at < tree.size && found.length < limit; at++) {
    if (before[at] === tip && isSaid(tree, at)) found.push(at);
  }
  const children: BranchChild[] = [];
  for (let at = 0; at < found.length; at += TOGETHER) {
    children.push(...(await tree.readAll(found.slice(at, at + TOGETHER))).map(childOf));
  }
  return children;
}

async function labelsIn(tree: Outline): Promise<ReadonlyMap<string, string>> {
  const nodes: number[] = [];
  for (let node = 0; node < tree.size; node++) {
    if (tree.typeOf(node) === "label" && !tree.isPassedOver(node)) nodes.push(node);
  }
  const labels = new Map<string, string>();
  for (let at = 0; at < nodes.length; at += TOGETHER) {
    for (const entry of await tree.readAll(nodes.slice(at, at + TOGETHER))) noteLabel(labels, entry);
  }
  return labels;
}
