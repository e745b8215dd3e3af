/**
 * Slots one after the other, and the way from an id to the last node that has it.
 * Invariant: a node keeps its number; memory is forty bytes a node, and at most sixteen more for the way by id.
 */
import { hashOf, kindAt, lengthAt, linkAt, offsetAt, putSlot, SLOT_WORDS, type Slot, timeAt } from "./slots.ts";

const NOTHING = -1;
const FIRST_SLOTS = 64;

export class SlotList {
  /** May be longer than what is in use. */
  words: Uint32Array;
  count: number;

  /** Takes over `slots`; they belong to the list now. */
  constructor(slots: Uint32Array = new Uint32Array()) {
    this.words = slots;
    this.count = slots.length / SLOT_WORDS;
  }

  push(slot: Slot): void {
    const at = this.count * SLOT_WORDS;
    if (at === this.words.length) this.reserve(Math.max(FIRST_SLOTS, this.count * 2));
    putSlot(this.words, at, slot);
    this.count += 1;
  }

  /** Makes room for so many slots in all. */
  reserve(count: number): void {
    if (count * SLOT_WORDS <= this.words.length) return;
    const words = new Uint32Array(count * SLOT_WORDS);
    words.set(this.words);
    this.words = words;
  }

  offsetOf(node: number): number {
    return offsetAt(this.words, node * SLOT_WORDS);
  }
  lengthOf(node: number): number {
    return lengthAt(this.words, node * SLOT_WORDS);
  }
  kindOf(node: number): number {
    return kindAt(this.words, node * SLOT_WORDS);
  }
  linkOf(node: number): number {
    return linkAt(this.words, node * SLOT_WORDS);
  }
  timeOf(node: number): number {
    return timeAt(this.words, node * SLOT_WORDS);
  }

  /** Whether the node's id may be this one; false is certain. */
  isIdOf(node: number, id: string): boolean {
    const { low, high } = hashOf(id);
    return this.hasId(node, low, high);
  }
  /** The same of the node's parent. */
  isParentOf(node: number, id: string): boolean {
    const { low, high } = hashOf(id);
    return this.words[node * SLOT_WORDS + 2] === low && this.words[node * SLOT_WORDS + 3] === high;
  }
  hasId(node: number, low: number, high: number): boolean {
    return this.words[node * SLOT_WORDS] === low && this.words[node * SLOT_WORDS + 1] === high;
  }
}

/** Open addressing over the hashes that the slots hold; never more than half full. */
export class IdTable {
  readonly #slots: SlotList;
  /** Node + 1; 0 is free. */
  #table: Int32Array;
  #filled = 0;

  /** Room for `expected` ids; it grows when there are more. */
  constructor(slots: SlotList, expected: number) {
    this.#slots = slots;
    this.#table = new Int32Array(placesFor(expected));
  }

  /** Makes room for so many ids in all. */
  reserve(expected: number): void {
    if (placesFor(expected) > this.#table.length) this.#grow(placesFor(expected));
  }

  /** The last node that was put under this hash, or -1. */
  find(low: number, high: number): number {
    return (this.#table[this.#placeOf(low, high)] ?? 0) - 1;
  }

  /** Puts a node under its id, in the place of any other of that id. */
  put(node: number): void {
    if ((this.#filled + 1) * 2 > this.#table.length) this.#grow(this.#table.length * 4);
    const place = this.#placeOf(this.#slots.words[node * SLOT_WORDS]!, this.#slots.words[node * SLOT_WORDS + 1]!);
    if (this.#table[place] === 0) this.#filled += 1;
    this.#table[place] = node + 1;
  }

  /** Puts a node under its id unless another one is there: returns that, or -1. */
  putNew(node: number): number {
    if ((this.#filled + 1) * 2 > this.#table.length) this.#grow(this.#table.length * 4);
    const place = this.#placeOf(this.#slots.words[node * SLOT_WORDS]!, this.#slots.words[node * SLOT_WORDS + 1]!);
    const there = this.#table[place]! - 1;
    if (there !== NOTHING) return there;
    this.#filled += 1;
    this.#table[place] = node + 1;
    return NOTHING;
  }

  /** Where a hash stands, or would stand. */
  #placeOf(low: number, high: number): number {
    const mask = this.#table.length - 1;
    for (let place = (low ^ high) & mask; ; place = (place + 1) & mask) {
      const node = this.#table[place]! - 1;
      if (node === NOTHING || this.#slots.hasId(node, low, high)) return place;
    }
  }

  #grow(places: number): void {
    const nodes = this.#table;
    this.#table = new Int32Array(places);
    this.#filled = 0;
    for (const one of nodes) if (one !== 0) this.put(one - 1);
  }
}

/** A power of two, at least twice as many. */
function placesFor(ids: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(FIRST_SLOTS, ids) * 2));
}
