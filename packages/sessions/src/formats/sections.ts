/**
 * A tree laid out for reading: the current conversation from its beginning to its leaf, then each other branch, with
 * what it branches off from. Pure; iterative, since a path may be a million entries long.
 * Invariant: every entry that is shown stands in exactly one section.
 */
import type { Tree, TreeNode } from "../tree.ts";

export interface Section {
  /** Indexes of what is shown, in reading order. */
  readonly entries: readonly number[];
  /** Index of the entry it follows in another section; -1 for one that begins on its own. */
  readonly after: number;
}

/** The current conversation first (it may be empty), then the other branches in file order. */
export function sectionsOf(
  tree: Tree<TreeNode>,
  leaf: number,
  isShown: (index: number) => boolean,
): readonly Section[] {
  const children = tree.children();
  const current = pathOf(tree, leaf);
  const onPath = new Set(current);
  const main = { entries: current.filter(isShown), after: -1 };
  const nearest: number[] = [];
  for (const index of tree.nodes.keys()) nearest.push(isShown(index) ? index : (nearest[tree.parentOf(index)] ?? -1));
  const goesOn = (index: number): number | undefined => {
    const own = children.get(index) ?? [];
    return own.find((child) => onPath.has(child)) ?? own.at(-1);
  };
  const others: Section[] = [];
  for (const index of tree.nodes.keys()) {
    const parent = tree.parentOf(index);
    const isContinued = parent !== -1 && !(parent === leaf && onPath.has(parent)) && goesOn(parent) === index;
    if (onPath.has(index) || (isContinued && !onPath.has(parent))) continue;
    const entries: number[] = [];
    for (let at: number | undefined = index; at !== undefined; at = goesOn(at)) if (isShown(at)) entries.push(at);
    if (entries.length > 0) others.push({ entries, after: nearest[parent] ?? -1 });
  }
  return [main, ...others];
}

function pathOf(tree: Tree<TreeNode>, leaf: number): number[] {
  const path: number[] = [];
  for (let at = leaf; at !== -1; at = tree.parentOf(at)) path.push(at);
  return path.reverse();
}
