/** Lines come out the same however the bytes were cut. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineBatches, lines } from "../src/lines.ts";

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  return Array.fromAsync(values);
}

test("LF, CRLF and CR end a line; the last one needs none", async () => {
  const bytes = new TextEncoder().encode("a\nb\r\nc\rd\n\ne");
  for (let size = 1; size <= bytes.length; size++) {
    expect(await collect(lines(chunks(bytes, size)))).toEqual(["a", "b", "c", "d", "", "e"]);
  }
});

test("what arrives together comes out together", async () => {
  const bytes = new TextEncoder().encode("a\nb\nc\n");
  expect(await collect(lineBatches(chunks(bytes, 4)))).toEqual([["a", "b"], ["c"]]);
});

test("property: any text, cut anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom("x", "待", "😀", "é") })),
      fc.integer({ min: 1, max: 7 }),
      async (texts, size) => {
        const bytes = new TextEncoder().encode(texts.map((text) => `${text}\n`).join(""));
        expect(await collect(lines(chunks(bytes, size)))).toEqual(texts);
      },
    ),
  );
});
