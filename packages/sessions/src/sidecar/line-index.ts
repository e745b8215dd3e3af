/**
 * The index of one transcript, grown from its lines: what stands where, and under which, without any content.
 * Invariant: for every file it can judge it has the tree that reading the whole file has; of others it says `isOdd`.
 */
import { parseLine } from "../entry.ts";
import { CURRENT_VERSION, readHeader } from "../reading/header.ts";
import type { ByteSource } from "../reading/source.ts";
import { type Head, readHead } from "./heads.ts";
import { NodeTree } from "./node-tree.ts";
import { SlotList } from "./slot-list.ts";
import { emptySlot, SLOT_WORDS } from "./slots.ts";
import { wholeLines } from "./whole-lines.ts";

const NEWLINE = 0x0a;

export class LineIndex {
  readonly tree: NodeTree;
  readonly #slot = emptySlot();
  #covered: number;
  #isOdd = false;
  #isLoose = false;

  private constructor(tree: NodeTree, covered: number) {
    this.tree = tree;
    this.#covered = covered;
  }

  /** An index of nothing yet. */
  static empty(): LineIndex {
    return new LineIndex(new NodeTree(), 0);
  }

  /** From slots that were kept (they belong to the index now) and describe the first `covered` bytes of `source`. */
  static async restored(slots: Uint32Array, covered: number, source: ByteSource): Promise<LineIndex> {
    const tree = new NodeTree(new SlotList(slots));
    await tree.place(source);
    return new LineIndex(tree, covered);
  }

  /** Bytes of the file that are described. */
  get covered(): number {
    return this.#covered;
  }
  /** Whether the file holds what only a reader of the whole of it can judge. */
  get isOdd(): boolean {
    return this.#isOdd || this.tree.isAmbiguous;
  }
  /** Whether the last line lacks its end, so that somebody may still write on in it. */
  get isLoose(): boolean {
    return this.#isLoose;
  }
  /** The slots, for keeping. Not a copy. */
  get slots(): Uint32Array {
    return this.tree.slots.words.subarray(0, this.tree.slots.count * SLOT_WORDS);
  }

  /**
   * Reads what `source` holds beyond `covered`. False: it does not go on where this index ends (its last line was
   * written on in), so a new one is needed.
   */
  async extend(source: ByteSource): Promise<boolean> {
    if (this.#covered === 0 && (await readHeader(source)).version < CURRENT_VERSION) this.#isOdd = true;
    if (this.#isLoose && source.size > this.#covered) {
      const [next] = await source.read(this.#covered, 1);
      if (next !== NEWLINE) return false;
      this.#covered += 1;
      this.#isLoose = false;
    }
    let isComplete = this.#covered >= source.size || this.isOdd || this.#isLoose;
    if (isComplete) return true;
    for await (const { bytes, used, isLast } of wholeLines(source, this.#covered)) {
      this.#takeLines(bytes, used);
      this.#covered += used;
      if (isLast) this.#takeLast(bytes.subarray(used));
      this.tree.expect((this.tree.slots.count * source.size) / Math.max(1, this.#covered));
      await this.tree.place(source);
      isComplete = isLast || this.isOdd;
      if (isComplete) break;
    }
    if (!isComplete) this.#isOdd = true;
    return true;
  }

  /** The lines that end in the first `used` bytes. */
  #takeLines(chunk: Buffer, used: number): void {
    for (let start = 0; start < used; ) {
      const end = chunk.indexOf(NEWLINE, start);
      this.#takeLine(chunk, start, end);
      start = end + 1;
    }
  }

  #takeLine(chunk: Buffer, from: number, to: number): Head {
    const head = readHead(chunk, from, to, this.#covered + from, this.#slot);
    if (head === "odd") this.#isOdd = true;
    if (head === "entry") this.tree.slots.push(this.#slot);
    return head;
  }

  /** A last line without its end counts if it is whole. */
  #takeLast(line: Buffer): void {
    const { kind } = parseLine(line);
    if (kind === "anonymous") this.#isOdd = true;
    if (kind !== "entry" || this.#takeLine(line, 0, line.length) !== "entry") return;
    this.#covered += line.length;
    this.#isLoose = true;
  }
}
