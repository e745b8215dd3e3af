/**
 * The tree over slots: who hangs under whom, by the rules of `Tree`, without the content of any line.
 *
 * Nodes are numbered in file order; -1 stands for "above the root". A parent's number is smaller than its child's; a
 * link that leads nowhere is bridged to the entry before; a node that repeats an earlier entry is passed over.
 * Invariant: it equals the tree that reading the whole file has, unless `isAmbiguous`: two different ids had one hash.
 */
import { type Entry, parseLine } from "../entry.ts";
import type { ByteSource } from "../reading/source.ts";
import { sameEntry } from "../reading/whole.ts";
import { IdTable, SlotList } from "./slot-list.ts";
import { hashOf, LINKED, ROOT, SLOT_WORDS } from "./slots.ts";

/** Nodes placed without a pause: some milliseconds. */
const SLICE_NODES = 2 ** 15;
const NOTHING = -1;

export class NodeTree {
  readonly slots: SlotList;
  readonly #ids: IdTable;
  #parents: Int32Array;
  readonly #passedOver = new Set<number>();
  #size = 0;
  #lastSound = NOTHING;
  #repeats = 0;
  #isAmbiguous = false;

  constructor(slots: SlotList = new SlotList()) {
    this.slots = slots;
    this.#ids = new IdTable(slots, slots.count);
    this.#parents = new Int32Array(Math.max(64, slots.count));
  }

  /** Nodes that have their place, those that are passed over included. */
  get size(): number {
    return this.#size;
  }
  /** How many nodes have an id that an earlier one has. */
  get repeats(): number {
    return this.#repeats;
  }
  get isAmbiguous(): boolean {
    return this.#isAmbiguous;
  }

  /** -1 for a root. */
  parentOf(node: number): number {
    return this.#parents[node] ?? NOTHING;
  }
  isPassedOver(node: number): boolean {
    return this.#passedOver.has(node);
  }
  /** The last node that may have this id, or -1: read its line to know. */
  find(id: string): number {
    const { low, high } = hashOf(id);
    return this.#ids.find(low, high);
  }

  /** Gives slots their place that were added since. The lines of repeated ids are read from `source`. */
  async place(source: ByteSource): Promise<void> {
    while (this.#size < this.slots.count) {
      const node = this.#size;
      // A read lets others of this process run meanwhile.
      if (node % SLICE_NODES === SLICE_NODES - 1) await source.read(0, 1);
      const { words } = this.slots;
      const at = node * SLOT_WORDS;
      const earlier = this.#ids.find(words[at]!, words[at + 1]!);
      this.#addParent(this.#parentFor(node));
      if (earlier !== NOTHING && (await this.#isRepetition(source, earlier, node))) continue;
      this.#ids.put(node);
      this.#lastSound = node;
    }
  }

  #addParent(parent: number): void {
    if (this.#size === this.#parents.length) {
      const parents = new Int32Array(this.#size * 2);
      parents.set(this.#parents);
      this.#parents = parents;
    }
    this.#parents[this.#size] = parent;
    this.#size += 1;
  }

  #parentFor(node: number): number {
    const link = this.slots.linkOf(node);
    if (link === ROOT) return NOTHING;
    if (link !== LINKED) return this.#lastSound;
    const at = node * SLOT_WORDS + 2;
    const [low, high] = [this.slots.words[at]!, this.slots.words[at + 1]!];
    // Mostly the entry before.
    if (this.#lastSound !== NOTHING && this.slots.hasId(this.#lastSound, low, high)) return this.#lastSound;
    const linked = this.#ids.find(low, high);
    return linked === NOTHING ? this.#lastSound : linked;
  }

  /** Two lines of one id: the same entry again is passed over, another one is not. */
  async #isRepetition(source: ByteSource, earlier: number, node: number): Promise<boolean> {
    const [a, b] = [await this.#lineOf(source, earlier), await this.#lineOf(source, node)];
    if (a === undefined || b === undefined || a.id !== b.id) {
      this.#isAmbiguous = true;
      return false;
    }
    this.#repeats += 1;
    const isSame = sameEntry(a, b);
    if (isSame) this.#passedOver.add(node);
    return isSame;
  }

  async #lineOf(source: ByteSource, node: number): Promise<Entry | undefined> {
    const parsed = parseLine(await source.read(this.slots.offsetOf(node), this.slots.lengthOf(node)));
    return parsed.kind === "entry" ? parsed.entry : undefined;
  }
}
