/** Raw lines in both directions against the obvious model: split at newlines. */
import { LIMITS } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { backward, forward, type RawLine } from "../../src/reading/lines.ts";
import { type ByteSource, memorySource } from "../../src/reading/source.ts";

interface Plain {
  readonly offset: number;
  readonly text: string;
  readonly ended: boolean;
}

function model(bytes: Buffer): Plain[] {
  const lines: Plain[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const end = bytes.indexOf("\n", offset);
    const stop = end === -1 ? bytes.length : end;
    lines.push({ offset, text: bytes.toString("latin1", offset, stop), ended: end !== -1 });
    offset = stop + 1;
  }
  return lines;
}

async function plain(lines: AsyncIterable<RawLine>): Promise<Plain[]> {
  const all = await Array.fromAsync(lines);
  return all.map(({ offset, bytes, ended }) => ({ offset, text: bytes?.toString("latin1") ?? "?", ended }));
}

/** The same bytes, but never more than `most` at once: borders of chunks fall everywhere. */
function stingy(source: ByteSource, most: number): ByteSource {
  return { size: source.size, read: (offset, length) => source.read(offset, Math.min(length, most)) };
}

const bytes = fc
  .array(fc.oneof(fc.constant("\n"), fc.constant("刚才"), fc.constant("🚀"), fc.string({ maxLength: 5 })), {
    maxLength: 40,
  })
  .map((parts) => Buffer.from(parts.join("")));

test("forward equals splitting, wherever chunks end", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 7 }), async (data, most) => {
      expect(await plain(forward(stingy(memorySource(data), most)))).toEqual(model(data));
    }),
    { seed: 1 },
  );
});

test("backward is forward reversed, from the end and from any line", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(), async (data, pick) => {
      const lines = model(data);
      expect(await plain(backward(memorySource(data)))).toEqual(lines.toReversed());
      const from = pick % (lines.length + 1);
      const border = lines[from]?.offset ?? data.length;
      expect(await plain(backward(memorySource(data), border))).toEqual(lines.slice(0, from).toReversed());
      expect(await plain(forward(memorySource(data), border))).toEqual(lines.slice(from));
    }),
    { seed: 2 },
  );
});

test("lines longer than many chunks, with characters across their borders", async () => {
  const long = "中".repeat(LIMITS.readChunkBytes);
  const data = Buffer.from(`first\n${long}\nlast`);
  const found = await Array.fromAsync(backward(memorySource(data)));
  expect(found.map((line) => line.bytes?.toString("utf8") === long)).toEqual([false, true, false]);
  expect(await plain(forward(memorySource(data)))).toEqual(model(data));
});

test("a line that is too long is passed over without being kept", async () => {
  const size = 16 * LIMITS.entryBytesMax + 10;
  const filler = Buffer.alloc(LIMITS.readChunkBytes, 0x78);
  const edge = Buffer.from("a\n");
  const source: ByteSource = {
    size: size + 4,
    async read(offset, length) {
      const isInside = offset > 0 && offset + length < size;
      if (isInside) return filler.subarray(0, length);
      const chunk = Buffer.from(filler.subarray(0, Math.min(length, size + 4 - offset)));
      if (offset === 0) edge.copy(chunk);
      const tail = size + 2 - offset;
      if (tail >= 0 && tail < chunk.length) chunk.write("\nb".slice(0, chunk.length - tail), tail);
      return chunk;
    },
  };
  const ahead = await Array.fromAsync(forward(source));
  expect(ahead.map((line) => [line.offset, line.length, line.bytes?.toString()])).toEqual([
    [0, 1, "a"],
    [2, size, undefined],
    [size + 3, 1, "b"],
  ]);
  const back = await Array.fromAsync(backward(source));
  expect(back.map((line) => [line.offset, line.length, line.bytes?.toString()]).toReversed()).toEqual([
    [0, 1, "a"],
    [2, size, undefined],
    [size + 3, 1, "b"],
  ]);
});
