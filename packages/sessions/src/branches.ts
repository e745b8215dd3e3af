/**
 * The branches of a conversation as people see them: what was said, without the lines that only keep the books.
 *
 * Reads the log from its beginning and keeps a few numbers per entry; texts are read a second time, for the few entries
 * that are shown. Looking moves nothing.
 * Invariant: everything that was ever said is on the way to one of `leaves`, whatever was branched, edited or left.
 */
import { type Entry, fieldsOf, isCustom, isMessage } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { entersContext } from "./open-calls.ts";
import { excerptOf } from "./text.ts";
import { Tree } from "./tree.ts";
import type { Session } from "./types.ts";

/** The end of a branch. */
export interface BranchEnd {
  /** Where to go on: `session.branch(id)`. */
  readonly id: string;
  /** Whether the conversation stands here. */
  readonly current: boolean;
  /** The time of the last thing said on it, as written (ISO 8601). */
  readonly lastActivity: string;
  /** Things said from the root to here. */
  readonly depth: number;
  /** The first thing said that its siblings do not share: id, role (null: not a message) and the beginning of its text. */
  readonly differs: BranchChild;
  readonly label: string | null;
}

export interface BranchChild {
  readonly id: string;
  readonly role: string | null;
  readonly words: string;
}

interface Node {
  readonly id: string;
  readonly parentId?: string | null;
  readonly role: string | null;
  readonly time: string;
  /** Part of the conversation; the rest is state and book-keeping. */
  readonly said: boolean;
  /** A `holdfast:leaf`: nobody goes on from there by name. */
  readonly move: boolean;
}

/** Reads the whole log, streaming. What is added to the log afterwards is not in it: read it again. */
export async function branchesOf(session: Session): Promise<Branches> {
  const tree = new Tree<Node>();
  const labels = new Map<string, string>();
  for await (const entry of session.oldestFirst()) {
    tree.add(nodeOf(entry), sameNode);
    const { targetId, label } = fieldsOf(entry);
    if (entry.type !== "label" || typeof targetId !== "string") continue;
    if (typeof label === "string" && label !== "") labels.set(targetId, label);
    else labels.delete(targetId);
  }
  return new Branches(session, tree, labels);
}

function nodeOf(entry: Entry): Node {
  const { id, parentId, timestamp } = fieldsOf(entry);
  return {
    id: String(id),
    ...(typeof parentId === "string" || parentId === null ? { parentId } : {}),
    role: isMessage(entry) ? entry.message.role : null,
    time: typeof timestamp === "string" ? timestamp : "",
    said: entersContext(entry) && entry.type !== "compaction",
    move: isCustom(entry, "holdfast:leaf"),
  };
}

function sameNode(a: Node, b: Node): boolean {
  return a.parentId === b.parentId && a.time === b.time && a.role === b.role;
}

export class Branches {
  readonly #session: Session;
  readonly #tree: Tree<Node>;
  readonly #labels: ReadonlyMap<string, string>;
  /** For each node the last thing said at or above it, or -1. */
  readonly #tips: Int32Array;
  /** For each thing said: the thing said before it, how many follow, the last node that a branch may go on from. */
  readonly #said: { readonly before: Int32Array; readonly next: Int32Array; readonly end: Int32Array };
  readonly #current: number;

  constructor(session: Session, tree: Tree<Node>, labels: ReadonlyMap<string, string>) {
    this.#session = session;
    this.#tree = tree;
    this.#labels = labels;
    this.#tips = new Int32Array(tree.size);
    const empty = (): Int32Array => new Int32Array(tree.size);
    this.#said = { before: empty(), next: empty(), end: empty() };
    for (const [index, node] of tree.nodes.entries()) this.#place(node, index);
    const leaf = session.leaf();
    this.#current = leaf === null ? -1 : tree.indexOf(leaf);
  }

  #place(node: Node, index: number): void {
    const parent = this.#tree.parentOf(index);
    const above = parent === -1 ? -1 : (this.#tips[parent] ?? -1);
    this.#tips[index] = node.said ? index : above;
    const { before, next, end } = this.#said;
    if (node.said) {
      before[index] = above;
      if (above !== -1) next[above] = (next[above] ?? 0) + 1;
    }
    const tip = this.#tips[index] ?? -1;
    if (tip !== -1 && !node.move) end[tip] = index;
  }

  /** All ends in file order, and where the conversation stands even if more was said below. */
  async leaves(): Promise<readonly BranchEnd[]> {
    const here = this.#current === -1 ? -1 : (this.#tips[this.#current] ?? -1);
    const tips = this.#all().filter((index) => index === here || this.#said.next[index] === 0);
    const depths = this.#depths();
    const first = tips.map((tip) => this.#firstOwn(tip, here));
    const shown = await this.#shown(first);
    return tips.map((tip, at) => {
      const node = this.#node(tip);
      const isHere = tip === here;
      const end = isHere ? this.#current : (this.#said.end[tip] ?? tip);
      return {
        id: this.#node(end).id,
        current: isHere,
        lastActivity: node.time,
        depth: depths[tip] ?? 0,
        differs: shown.get(first[at] ?? -1) ?? { id: node.id, role: node.role, words: "" },
        label: this.#labels.get(this.#node(end).id) ?? this.#labels.get(node.id) ?? null,
      };
    });
  }

  /** What was said next after an entry, on all branches, in file order; null: what was said first. Throws `entry_missing`. */
  async childrenOf(id: string | null): Promise<readonly BranchChild[]> {
    const tip = id === null ? -1 : (this.#tips[this.#index(id)] ?? -1);
    const children = this.#all().filter((index) => this.#said.before[index] === tip);
    const shown = await this.#shown(children);
    return children.flatMap((index) => shown.get(index) ?? []);
  }

  /** The last entry that both are on the way from the root to, or null. Throws `entry_missing`. */
  commonAncestor(a: string, b: string): string | null {
    const index = this.#tree.commonAncestor(this.#index(a), this.#index(b));
    return this.#tree.nodes[index]?.id ?? null;
  }

  #index(id: string): number {
    const index = this.#tree.indexOf(id);
    if (index === -1) throw new SessionError("entry_missing", { entry: id, session: this.#session.id });
    return index;
  }

  #node(index: number): Node {
    const node = this.#tree.nodes[index];
    if (node === undefined) throw new RangeError(`no node ${index} in a tree of ${this.#tree.size}`);
    return node;
  }

  /** Everything said, in file order. */
  #all(): number[] {
    return [...this.#tree.nodes.keys()].filter((index) => this.#node(index).said);
  }

  #depths(): Int32Array {
    const depths = new Int32Array(this.#tree.size);
    for (const index of this.#all()) {
      const above = this.#said.before[index] ?? -1;
      depths[index] = (above === -1 ? 0 : (depths[above] ?? 0)) + 1;
    }
    return depths;
  }

  /** Up from a tip to the first thing said after the last fork above it; going on from `here` makes a fork there. */
  #firstOwn(tip: number, here: number): number {
    let at = tip;
    for (;;) {
      const above = this.#said.before[at] ?? -1;
      if (above === -1 || above === here || (this.#said.next[above] ?? 0) > 1) return at;
      at = above;
    }
  }

  async #shown(indexes: readonly number[]): Promise<ReadonlyMap<number, BranchChild>> {
    const wanted = new Map(indexes.map((index) => [this.#node(index).id, index]));
    const shown = new Map<number, BranchChild>();
    for await (const entry of this.#session.oldestFirst()) {
      const index = wanted.get(entry.id);
      if (index === undefined) continue;
      shown.set(index, { id: entry.id, role: this.#node(index).role, words: excerptOf(entry) });
      if (shown.size === wanted.size) break;
    }
    return shown;
  }
}
