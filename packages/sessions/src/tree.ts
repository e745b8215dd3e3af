/**
 * The tree of a transcript, grown in file order. Pure; iterative, since a path may be a million entries long.
 *
 * Invariant: a parent stands earlier in the file than its child. A link that says otherwise (to a later entry, to
 * itself, to nothing) is a gap and is bridged to the nearest earlier entry, so a circle cannot exist and the history
 * before a gap is never silently lost.
 */

/** What the tree needs to know of an entry. `parentId` undefined: it has no such field. */
export interface TreeNode {
  readonly id: string;
  readonly parentId?: string | null;
}

export interface Gap {
  readonly id: string;
  readonly parentId: string;
  readonly bridgedTo: string | null;
}

/** What `add` did: the node's index, or that it was passed over because it repeats an earlier one. */
export type Added =
  | { readonly kind: "added"; readonly index: number; readonly repeats: boolean }
  | { readonly kind: "ignored" };

/** A tree over nodes in file order. Nodes are named by their index; -1 stands for "above the root". */
export class Tree<N extends TreeNode> {
  readonly nodes: N[] = [];
  readonly gaps: Gap[] = [];
  readonly #parents: number[] = [];
  readonly #byId = new Map<string, number>();
  #lastSound = -1;

  /**
   * Adds the next node of the file. `same` tells whether two nodes of one id are the same entry; then the second is
   * ignored. A different one is kept, and children that come later bind to it. `sound` false: never a bridge's end, and it
   * takes no id from an earlier one.
   */
  add(node: N, same: (earlier: N, later: N) => boolean, sound = true): Added {
    const earlier = this.#byId.get(node.id);
    if (earlier !== undefined && same(this.#node(earlier), node)) return { kind: "ignored" };
    const index = this.nodes.length;
    this.#parents.push(this.#resolve(node));
    this.nodes.push(node);
    if (sound || earlier === undefined) this.#byId.set(node.id, index);
    if (sound) this.#lastSound = index;
    return { kind: "added", index, repeats: earlier !== undefined };
  }

  #resolve(node: N): number {
    if (node.parentId === null) return -1;
    const parent = node.parentId === undefined ? undefined : this.#byId.get(node.parentId);
    if (parent !== undefined) return parent;
    if (node.parentId === undefined && this.#lastSound === -1) return -1;
    const bridgedTo = this.#lastSound === -1 ? null : this.#node(this.#lastSound).id;
    this.gaps.push({ id: node.id, parentId: node.parentId ?? "", bridgedTo });
    return this.#lastSound;
  }

  #node(index: number): N {
    const node = this.nodes[index];
    if (node === undefined) throw new RangeError(`no node ${index} in a tree of ${this.nodes.length}`);
    return node;
  }

  get size(): number {
    return this.nodes.length;
  }

  /** The index of the entry with this id (of several: the last), or -1. */
  indexOf(id: string): number {
    return this.#byId.get(id) ?? -1;
  }

  /** The index of the parent, or -1 for a root. */
  parentOf(index: number): number {
    return this.#parents[index] ?? -1;
  }

  /** From the root to the node, both included; empty for -1. */
  pathTo(index: number): N[] {
    const path: N[] = [];
    for (let at = index; at !== -1; at = this.parentOf(at)) path.push(this.#node(at));
    return path.reverse();
  }

  /** Children of each node in file order, roots under -1. */
  children(): ReadonlyMap<number, readonly number[]> {
    const children = new Map<number, number[]>();
    this.#parents.forEach((parent, index) => {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [index]);
      else siblings.push(index);
    });
    return children;
  }

  /** Nodes without children, in file order. */
  leaves(): number[] {
    const inner = new Set(this.#parents);
    return [...this.nodes.keys()].filter((index) => !inner.has(index));
  }

  /** The deepest node that is on both paths (a node is on its own), or -1. */
  commonAncestor(a: number, b: number): number {
    // A parent's index is smaller than its child's: the larger of two can never be above the other.
    let [left, right] = [a, b];
    while (left !== right) {
      if (left > right) left = this.parentOf(left);
      else right = this.parentOf(right);
    }
    return left;
  }
}

/** The tree of whole entries. Two of one id are the same when they differ in nothing but `g` and time. */
export function treeOf<N extends TreeNode>(nodes: Iterable<N>, same: (earlier: N, later: N) => boolean): Tree<N> {
  const tree = new Tree<N>();
  for (const node of nodes) tree.add(node, same);
  return tree;
}
