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

const NEWLINE = 0x0a;
const CHUNK_BYTES = 2 ** 20;
/** A longer line is left to those who read everything. */
const LINE_BYTES_MAX = 2 ** 28;

async function chunkAt(source: ByteSource, offset: number, into: Buffer): Promise<Buffer> {
  if (source.readInto === undefined) return source.read(offset, into.length);
  return into.subarray(0, await source.readInto(into, offset));
}

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
    let into = Buffer.alloc(0);
    for (let want = CHUNK_BYTES; this.#covered < source.size && !this.isOdd && !this.#isLoose; ) {
      if (into.length < want) into = Buffer.allocUnsafe(Math.min(want, source.size - this.#covered));
      const chunk = await chunkAt(source, this.#covered, into);
      const used = this.#takeLines(chunk);
      const isEnd = this.#covered + chunk.length >= source.size || chunk.length === 0;
      this.#covered += used;
      if (isEnd) this.#takeLast(chunk.subarray(used));
      await this.tree.place(source);
      if (isEnd) break;
      want = used === 0 ? want * 2 : CHUNK_BYTES;
      if (want > LINE_BYTES_MAX) this.#isOdd = true;
    }
    return true;
  }

  /** All lines that end in this chunk; returns their bytes. */
  #takeLines(chunk: Buffer): number {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#takeLine(chunk, start, end);
      start = end + 1;
    }
    return start;
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
