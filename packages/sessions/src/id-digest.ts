/**
 * Which ids a log may hold, in eight bytes each, so that an id that is not there is known without reading the log again.
 * Invariant: `mayHold` is never false for an id that was in the bytes read; it may be true for one that was not.
 */
import { parseLine } from "./entry.ts";
import { backwardBatches, type RawLine } from "./reading/lines.ts";
import { peek } from "./reading/peek.ts";
import type { ByteSource } from "./reading/source.ts";

/** 53 bits of an id: two rounds of FNV-1a with different beginnings. */
function digestOf(id: string): number {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x01000193) ^ (low >>> 7);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}

function idOf(line: RawLine): string | undefined {
  if (line.bytes === null) return undefined;
  const seen = peek(line.bytes);
  if (seen !== null) return seen.id;
  const parsed = parseLine(line.bytes);
  return parsed.kind === "entry" ? parsed.entry.id : undefined;
}

export class IdDigest {
  readonly #sorted: Float64Array;

  private constructor(sorted: Float64Array) {
    this.#sorted = sorted;
  }

  static async read(source: ByteSource): Promise<IdDigest> {
    const digests: number[] = [];
    for await (const batch of backwardBatches(source)) {
      for (const line of batch) {
        const id = idOf(line);
        if (id !== undefined) digests.push(digestOf(id));
      }
    }
    return new IdDigest(Float64Array.from(digests).sort());
  }

  mayHold(id: string): boolean {
    const wanted = digestOf(id);
    let from = 0;
    let to = this.#sorted.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (Number(this.#sorted[middle]) < wanted) from = middle + 1;
      else to = middle;
    }
    return this.#sorted[from] === wanted;
  }
}
