/**
 * A source in pieces that end where a line ends; while one is looked at, the next is being read.
 * Invariant: a piece holds at most `CHUNK_BYTES`, unless a single line is longer, and between two of them others of this
 * process run; memory is two pieces, whatever the source.
 */
import type { ByteSource } from "../reading/source.ts";

export interface Piece {
  /** Valid until the next piece is asked for. */
  readonly bytes: Buffer;
  /** How many of them belong to lines that end in this piece; the next one begins after these. */
  readonly used: number;
  /** Whether nothing follows: what is not used is a last line without its end. */
  readonly isLast: boolean;
}

const NEWLINE = 0x0a;
export const CHUNK_BYTES = 2 ** 20;
/** A longer line is left to those who read everything. */
const LINE_BYTES_MAX = 2 ** 28;

/** Reads into two buffers in turn; larger ones are made where a line needs them. */
class Reader {
  readonly #source: ByteSource;
  readonly #buffers = [Buffer.alloc(0), Buffer.alloc(0)];

  constructor(source: ByteSource) {
    this.#source = source;
  }

  async read(offset: number, want: number): Promise<Buffer> {
    const { size, readInto } = this.#source;
    const length = Math.min(want, size - offset);
    if (readInto === undefined) return this.#source.read(offset, length);
    const [spare] = this.#buffers.reverse();
    const into = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafe(length);
    this.#buffers[0] = into;
    return into.subarray(0, await readInto(into.subarray(0, length), offset));
  }
}

/** Pieces from `from`, the beginning of a line. Ends early, without a last piece, before a line that is too long. */
export async function* wholeLines(source: ByteSource, from: number): AsyncGenerator<Piece> {
  const reader = new Reader(source);
  let want = CHUNK_BYTES;
  let next = reader.read(from, want);
  try {
    for (let at = from; at < source.size && want <= LINE_BYTES_MAX; ) {
      const bytes = await next;
      const used = bytes.lastIndexOf(NEWLINE) + 1;
      const isLast = at + bytes.length >= source.size || bytes.length === 0;
      at += used;
      want = used === 0 ? want * 2 : CHUNK_BYTES;
      if (!isLast) {
        next = reader.read(at, want);
        // Whoever waits for it is told; until then it is nobody's.
        next.catch(() => {});
      }
      if (used > 0 || isLast) yield { bytes, used, isLast };
      if (isLast) return;
    }
  } finally {
    await next.catch(() => {});
  }
}
