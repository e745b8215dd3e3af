/** Pieces of a source: all lines, in small slices, one read ahead. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ByteSource, memorySource } from "../../src/reading/source.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { CHUNK_BYTES, wholeLines } from "../../src/sidecar/whole-lines.ts";
import { fileOf, user } from "../support/make.ts";

const NEWLINE = 0x0a;

/** A source that fills buffers of others, as a file does, and counts turns of the event loop. */
function fileLike(bytes: Buffer): { readonly source: ByteSource; readonly reads: number[] } {
  const reads: number[] = [];
  const read = async (offset: number, length: number): Promise<Buffer> => {
    reads.push(length);
    await new Promise((resolve) => setImmediate(resolve));
    return Buffer.from(bytes.subarray(offset, offset + length));
  };
  const readInto = async (into: Buffer, offset: number): Promise<number> => {
    const found = await read(offset, into.length);
    return found.copy(into);
  };
  return { source: { size: bytes.length, read, readInto }, reads };
}

async function joined(source: ByteSource, from: number): Promise<{ text: string; rest: string; lasts: number }> {
  const parts: Buffer[] = [];
  let rest = "";
  let lasts = 0;
  for await (const { bytes, used, isLast } of wholeLines(source, from)) {
    expect(used === 0 || bytes[used - 1] === NEWLINE).toBe(true);
    parts.push(Buffer.from(bytes.subarray(0, used)));
    if (!isLast) continue;
    lasts += 1;
    rest = bytes.toString("latin1", used);
  }
  return { text: Buffer.concat(parts).toString("latin1"), rest, lasts };
}

test("all bytes come once, in order, from the beginning of any line", async () => {
  const big = CHUNK_BYTES + 5;
  const lengths = fc.array(fc.oneof(fc.constantFrom(0, 1, 3, CHUNK_BYTES - 1, CHUNK_BYTES, big, 3 * CHUNK_BYTES)), {
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(lengths, fc.boolean(), fc.boolean(), fc.nat(), async (list, ended, isFile, pick) => {
      const lines = list.map((length, index) => String.fromCharCode(97 + index).repeat(length));
      const bytes = Buffer.from(lines.join("\n") + (ended ? "\n" : ""));
      const first = lines.slice(0, pick % (lines.length + 1)).reduce((sum, line) => sum + line.length + 1, 0);
      const from = Math.min(first, bytes.length);
      const { text, rest, lasts } = await joined(isFile ? fileLike(bytes).source : memorySource(bytes), from);
      expect(text + rest === bytes.toString("latin1", from)).toBe(true);
      expect([rest.includes("\n"), lasts]).toEqual([false, from < bytes.length ? 1 : 0]);
    }),
    { seed: 21, numRuns: 40 },
  );
});

test("an index is made in slices of a megabyte, each after a turn of the event loop", async () => {
  const entries = Array.from({ length: 24_000 }, (_, n) =>
    user(`n${n}`, n === 0 ? null : `n${n - 1}`, "x".repeat(100)),
  );
  const bytes = Buffer.from(fileOf(entries));
  const { source, reads } = fileLike(bytes);
  const index = LineIndex.empty();
  const turns = { count: 0 };
  const ticking = setInterval(() => {
    turns.count += 1;
  }, 0);
  await index.extend(source);
  clearInterval(ticking);
  expect(index.tree.size).toBe(entries.length);
  expect(Math.max(...reads)).toBeLessThanOrEqual(CHUNK_BYTES);
  expect(reads.length).toBeGreaterThan(bytes.length / CHUNK_BYTES);
  expect(turns.count).toBeGreaterThanOrEqual(Math.floor(bytes.length / CHUNK_BYTES));
});

test("slots that were kept are placed in slices of some thousands", async () => {
  const index = LineIndex.empty();
  const entries = Array.from({ length: 1_000 }, (_, n) => user(`n${n}`, n === 0 ? null : `n${n - 1}`, "x"));
  await index.extend(memorySource(fileOf(entries)));
  const one = index.slots;
  const many = new Uint32Array(one.length * 100);
  for (let copy = 0; copy < 100; copy++) {
    many.set(one, copy * one.length);
    // Other ids, other parents: all that a place depends on.
    for (let at = copy * one.length; at < (copy + 1) * one.length; at += 10) {
      many[at + 1] = many[at + 1]! ^ copy;
      many[at + 3] = many[at + 3]! ^ copy;
    }
  }
  const { source, reads } = fileLike(Buffer.alloc(10));
  const restored = await LineIndex.restored(many, 10, source);
  expect([restored.tree.size, restored.isOdd, restored.tree.parentOf(99_999)]).toEqual([100_000, false, 99_998]);
  expect(reads.length).toBe(Math.floor(100_000 / 2 ** 15));
});

test("a read that fails ends the pieces with its error, also one that nobody waits for yet", async () => {
  const bytes = Buffer.from(`${"x".repeat(99)}\n`.repeat(30_000));
  let reads = 0;
  const failing: ByteSource = {
    size: bytes.length,
    read: async (offset, length) => {
      if (reads++ > 0) throw new Error("the disk is gone");
      return bytes.subarray(offset, offset + length);
    },
  };
  const seen: number[] = [];
  const all = async (): Promise<void> => {
    for await (const { used } of wholeLines(failing, 0)) {
      seen.push(used);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await expect(all()).rejects.toThrow("the disk is gone");
  expect(seen).toHaveLength(1);
});
