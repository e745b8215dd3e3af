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
  readonly #odd = { repeats: 0, isAmbiguous: false };

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
    return this.#odd.repeats;
  }
  get isAmbiguous(): boolean {
    return this.#odd.isAmbiguous;
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

  /** Makes room for about so many nodes, so that nothing is copied while they come. */
  expect(count: number): void {
    const nodes = Math.ceil(count);
    this.slots.reserve(nodes);
    this.#ids.reserve(nodes);
    if (nodes <= this.#parents.length) return;
    const parents = new Int32Array(Math.max(nodes, this.#size * 2));
    parents.set(this.#parents.subarray(0, this.#size));
    this.#parents = parents;
  }

  /** Gives slots their place that were added since. The lines of repeated ids are read from `source`. */
  async place(source: ByteSource): Promise<void> {
    this.expect(this.slots.count);
    while (this.#size < this.slots.count) {
      const from = this.#size;
      const earlier = this.#placeNew(Math.min(this.slots.count, from + SLICE_NODES));
      // A read lets others of this process run meanwhile.
      if (this.#size - from === SLICE_NODES) await source.read(0, 1);
      if (earlier !== NOTHING) await this.#placeAgain(source, earlier);
    }
  }

  /** Places nodes up to `end`, or up to one whose id is there already, and returns who has it. */
  #placeNew(end: number): number {
    for (let node = this.#size; node < end; node++) {
      this.#parents[node] = this.#parentFor(node);
      const earlier = this.#ids.putNew(node);
      if (earlier !== NOTHING) return earlier;
      this.#lastSound = node;
      this.#size = node + 1;
    }
    return NOTHING;
  }

  /** Places the next node, whose id is that of an earlier one. */
  async #placeAgain(source: ByteSource, earlier: number): Promise<void> {
    const node = this.#size;
    const isRepetition = await this.#isRepetition(source, earlier, node);
    this.#size = node + 1;
    if (isRepetition) return;
    this.#ids.put(node);
    this.#lastSound = node;
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
    const [a, b] = [await lineOf(source, this.slots, earlier), await lineOf(source, this.slots, node)];
    if (a === undefined || b === undefined || a.id !== b.id) {
      this.#odd.isAmbiguous = true;
      return false;
    }
    this.#odd.repeats += 1;
    const isSame = sameEntry(a, b);
    if (isSame) this.#passedOver.add(node);
    return isSame;
  }
}

async function lineOf(source: ByteSource, slots: SlotList, node: number): Promise<Entry | undefined> {
  const parsed = parseLine(await source.read(slots.offsetOf(node), slots.lengthOf(node)));
  return parsed.kind === "entry" ? parsed.entry : undefined;
}
