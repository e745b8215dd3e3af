/**
 * Under which ids the entries of a tree are written where their own cannot stay: they have none, or it was used before.
 * Invariant: the ids are unique and depend on nothing but the file, so writing it twice gives the same ids.
 */
import { derivedId } from "../entry.ts";
import type { EntryRef } from "../reading/whole.ts";
import type { Tree } from "../tree.ts";

/** Entries that change or mark another one. */
const POINTING: ReadonlySet<string> = new Set(["context_edit", "label"]);

export class Naming {
  readonly #tree: Tree<EntryRef>;
  /** Entries that are written under another id, by index; and the ids that stood for a line number. */
  readonly #names = new Map<number, string>();
  readonly #derived = new Map<string, string>();
  /** Ids that more than one entry has. */
  readonly #shared = new Set<string>();

  constructor(tree: Tree<EntryRef>) {
    this.#tree = tree;
    const taken = new Set<string>();
    for (const { id } of tree.nodes) {
      if (taken.has(id)) this.#shared.add(id);
      taken.add(id);
    }
    const seen = new Set<string>();
    tree.nodes.forEach((ref, index) => {
      const isDerived = ref.id === derivedId(ref.line);
      if (isDerived || seen.has(ref.id)) {
        const name = freeName(isDerived ? `old-${ref.line}` : ref.id, taken);
        taken.add(name);
        this.#names.set(index, name);
        if (isDerived) this.#derived.set(ref.id, name);
      }
      seen.add(ref.id);
    });
  }

  nameOf(index: number): string {
    return this.#names.get(index) ?? this.#tree.nodes[index]!.id;
  }

  /** The name of the parent that readers see, or null. */
  parentOf(index: number): string | null {
    const parent = this.#tree.parentOf(index);
    return parent === -1 ? null : this.nameOf(parent);
  }

  /** Whether the parent named by an entry is the one it has, under another name. */
  isRenamed(id: string | null | undefined, index: number): boolean {
    const parent = this.#tree.nodes[this.#tree.parentOf(index)];
    return parent !== undefined && parent.id === id;
  }

  /** The new name of an id that stood for a line number; any other id as it is. */
  link(id: string): string {
    return this.#derived.get(id) ?? id;
  }

  /** Whether an entry may point to an id that more than one entry has. */
  mayPointToShared(index: number): boolean {
    return this.#shared.size > 0 && POINTING.has(this.#tree.nodes[index]?.type ?? "");
  }

  /** The name of what an entry points to: of several entries of that id, the nearest above it. */
  targetOf(index: number, id: string): string {
    if (!this.#shared.has(id)) return this.link(id);
    let at = this.#tree.parentOf(index);
    while (at !== -1 && this.#tree.nodes[at]?.id !== id) at = this.#tree.parentOf(at);
    return at === -1 ? id : this.nameOf(at);
  }

  /**
   * The first entry that a compaction keeps, as readers understand it: the one it names if that is above it, else
   * everything since the compaction before.
   */
  keptBy(index: number): string {
    const kept = this.#tree.nodes[index]?.firstKeptEntryId;
    if (kept === this.#tree.nodes[index]?.id) return this.nameOf(index);
    if (kept !== undefined && !this.#shared.has(kept) && this.#isAbove(this.#tree.indexOf(kept), index)) {
      return this.link(kept);
    }
    let [named, sinceCompaction] = [-1, index];
    for (let at = this.#tree.parentOf(index), isOpen = true; at !== -1; at = this.#tree.parentOf(at)) {
      const node = this.#tree.nodes[at]!;
      if (named === -1 && node.id === kept) named = at;
      isOpen = isOpen && node.type !== "compaction";
      if (isOpen) sinceCompaction = at;
    }
    return this.nameOf(named === -1 ? sinceCompaction : named);
  }

  #isAbove(above: number, index: number): boolean {
    let at = this.#tree.parentOf(index);
    while (at > above) at = this.#tree.parentOf(at);
    return above !== -1 && at === above;
  }
}

function freeName(wish: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wish)) return wish;
  let number = 2;
  while (taken.has(`${wish}-${number}`)) number += 1;
  return `${wish}-${number}`;
}

const LINKS = ["fromId", "returnTo", "seen"] as const;

/** The fields of an entry with the ids in them under their new names. */
export function renamedLinks(
  fields: Readonly<Record<string, unknown>>,
  naming: Naming,
  index: number,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...fields };
  if (typeof fields.targetId === "string") renamed.targetId = naming.targetOf(index, fields.targetId);
  for (const name of LINKS) {
    const id = fields[name];
    if (typeof id === "string") renamed[name] = naming.link(id);
  }
  return renamed;
}
