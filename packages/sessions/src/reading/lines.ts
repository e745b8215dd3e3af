/**
 * Raw lines of a source, forwards or backwards, with their offsets. Lines are cut at `\n` in bytes, so a character
 * that spans two chunks is never broken; a chunk is read once, and a line is joined once.
 * Invariant: memory holds one chunk and one line; the file never becomes one string.
 */
import { LIMITS } from "@holdfast/base";
import type { ByteSource } from "./source.ts";

/** A line where it was read: neither copied nor decoded before somebody asks. */
export class RawLine {
  /** Where the line begins in the source. */
  readonly offset: number;
  /** Bytes without the line end. */
  readonly length: number;
  /** False for a last line without `\n`. */
  readonly ended: boolean;
  readonly #chunk: Buffer | null;
  readonly #from: number;

  /** The line is `length` bytes of `chunk` from `from` on; null: it is longer than any line that can be used. */
  constructor(offset: number, length: number, ended: boolean, chunk: Buffer | null, from = 0) {
    this.offset = offset;
    this.length = length;
    this.ended = ended;
    this.#chunk = chunk;
    this.#from = from;
  }

  /** The line without `\n`, not a copy; null when it is too long. */
  get bytes(): Buffer | null {
    return this.#chunk === null ? null : this.#chunk.subarray(this.#from, this.#from + this.length);
  }
  /** The line decoded anew, without `\n`; null when it is too long. What is no UTF-8 became U+FFFD. */
  get text(): string | null {
    return this.#chunk === null ? null : this.#chunk.toString(undefined, this.#from, this.#from + this.length);
  }
  /** Whether this is the line's last byte. */
  endsWith(byte: number): boolean {
    return this.length > 0 && this.#chunk?.[this.#from + this.length - 1] === byte;
  }
}

const NEWLINE = 0x0a;
/** Sixteen times what we write ourselves; other programs may write more than we do, but not without end. */
const LINE_BYTES_MAX = 16 * LIMITS.entryBytesMax;

/** Backwards, the first piece is small, since often one line is wanted; each is twice the one before. */
const FIRST_STEP_BYTES = LIMITS.readChunkBytes / 8;

/** Pieces of a line that spans chunks, kept up to the limit. */
interface Pieces {
  readonly list: Buffer[];
  length: number;
}

function joined(offset: number, pieces: Pieces, ended: boolean, isReversed: boolean): RawLine {
  if (pieces.length > LINE_BYTES_MAX) return new RawLine(offset, pieces.length, ended, null);
  const list = isReversed ? pieces.list.toReversed() : pieces.list;
  return new RawLine(offset, pieces.length, ended, Buffer.concat(list, pieces.length));
}

function keep(pieces: Pieces, piece: Buffer): void {
  pieces.length += piece.length;
  if (pieces.length > LINE_BYTES_MAX) pieces.list.length = 0;
  else if (piece.length > 0) pieces.list.push(piece);
}

/** Lines from `from` (the beginning of a line) to the end, in batches of one chunk each. */
export async function* forwardBatches(source: ByteSource, from = 0): AsyncGenerator<readonly RawLine[]> {
  let pieces: Pieces = { list: [], length: 0 };
  let begin = from;
  for (let at = from; at < source.size; ) {
    const chunk = await source.read(at, LIMITS.readChunkBytes);
    if (chunk.length === 0) break;
    const batch: RawLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (pieces.length === 0) batch.push(new RawLine(begin, end - start, true, chunk, start));
      else {
        keep(pieces, chunk.subarray(start, end));
        batch.push(joined(begin, pieces, true, false));
        pieces = { list: [], length: 0 };
      }
      start = end + 1;
      begin = at + start;
    }
    keep(pieces, chunk.subarray(start));
    at += chunk.length;
    if (batch.length > 0) yield batch;
  }
  if (pieces.length > 0) yield [joined(begin, pieces, false, false)];
}

/** Lines that end at or before `from` (the beginning of a line, or the end), the last first, in batches of one chunk. */
export async function* backwardBatches(source: ByteSource, from = source.size): AsyncGenerator<readonly RawLine[]> {
  let pieces: Pieces = { list: [], length: 0 };
  // The newline that ends the line being joined; the very last line may lack it.
  let ended = false;
  let step = FIRST_STEP_BYTES;
  for (let at = from; at > 0; ) {
    const begin = Math.max(0, at - step);
    step = Math.min(2 * step, LIMITS.readChunkBytes);
    const chunk = await source.read(begin, at - begin);
    const batch: RawLine[] = [];
    let end = chunk.length;
    for (let newline = lastNewline(chunk, end); newline !== -1; newline = lastNewline(chunk, newline)) {
      const offset = begin + newline + 1;
      const length = end - newline - 1;
      if (pieces.length > 0) {
        keep(pieces, chunk.subarray(newline + 1, end));
        batch.push(joined(offset, pieces, ended, true));
        pieces = { list: [], length: 0 };
      } else if (ended || length > 0) batch.push(new RawLine(offset, length, ended, chunk, newline + 1));
      ended = true;
      end = newline;
    }
    keep(pieces, chunk.subarray(0, end));
    at = begin;
    if (batch.length > 0) yield batch;
  }
  if (ended || pieces.length > 0) yield [joined(0, pieces, ended, true)];
}

function lastNewline(chunk: Buffer, before: number): number {
  return before === 0 ? -1 : chunk.lastIndexOf(NEWLINE, before - 1);
}

/** Lines from `from` to the end, the first first. */
export async function* forward(source: ByteSource, from = 0): AsyncGenerator<RawLine> {
  for await (const batch of forwardBatches(source, from)) yield* batch;
}

/** Lines before `from`, the last first. */
export async function* backward(source: ByteSource, from = source.size): AsyncGenerator<RawLine> {
  for await (const batch of backwardBatches(source, from)) yield* batch;
}
