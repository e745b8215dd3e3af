/** The index has the tree that reading the whole file has, however it came about. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { memorySource } from "../../src/reading/source.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { fileOf, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

/** Offset of each node, and of its parent (null: none), as the index and as the tree have it. */
function shapeOf({ tree }: LineIndex): unknown[] {
  const { slots } = tree;
  const nodes = Array.from({ length: tree.size }, (_, node) => node).filter((node) => !tree.isPassedOver(node));
  const offsetOf = (node: number) => (node === -1 ? null : slots.offsetOf(node));
  return nodes.map((node) => [slots.offsetOf(node), slots.lengthOf(node), offsetOf(tree.parentOf(node))]);
}

async function wholeShape(text: string): Promise<unknown[]> {
  const { tree } = await readWhole(memorySource(text));
  return tree.nodes.map((ref, node) => [ref.offset, ref.length, tree.nodes[tree.parentOf(node)]?.offset ?? null]);
}

const files = fc
  .tuple(transcripts, damages, fc.constantFrom("\n" as const, "" as const))
  // Lines that look whole and are not are found when they are read (places.test.ts).
  .map(([entries, all, end]) =>
    damagedFile(
      entries,
      all.filter(({ how }) => !how.endsWith("torn")),
      end,
    ),
  );

test("built at once", async () => {
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(files, async (text) => {
      const index = LineIndex.empty();
      expect(await index.extend(memorySource(text))).toBe(true);
      if (index.isOdd) return;
      judged += 1;
      expect(shapeOf(index)).toEqual(await wholeShape(text));
    }),
    { seed: 4, numRuns: 400 },
  );
  expect(judged).toBeGreaterThan(150);
});

test("grown in pieces cut anywhere, and restored from its slots", async () => {
  await fc.assert(
    fc.asyncProperty(files, fc.array(fc.nat({ max: 9999 }), { maxLength: 5 }), async (text, cuts) => {
      const bytes = Buffer.from(text);
      const sizes = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      let index = LineIndex.empty();
      for (const size of sizes) {
        const source = memorySource(bytes.subarray(0, size));
        if (!(await index.extend(source))) {
          index = LineIndex.empty();
          await index.extend(source);
        }
      }
      if (index.isOdd) return;
      expect(shapeOf(index)).toEqual(await wholeShape(text));
      const restored = await LineIndex.restored(index.slots.slice(), index.covered, memorySource(text));
      expect(shapeOf(restored)).toEqual(shapeOf(index));
    }),
    { seed: 5, numRuns: 300 },
  );
});

test("a last line that somebody wrote on in makes it begin anew", async () => {
  const text = fileOf([user("a", null, "x")]);
  const index = LineIndex.empty();
  await index.extend(memorySource(text.slice(0, -1)));
  expect([index.tree.size, index.isLoose]).toEqual([1, true]);
  expect(await index.extend(memorySource(`${text.slice(0, -1)}{"type"`))).toBe(false);
  expect(await index.extend(memorySource(text))).toBe(true);
  expect([index.tree.size, index.isLoose, index.covered]).toEqual([1, false, Buffer.byteLength(text)]);
});

test("a line longer than what is read at once", async () => {
  const text = fileOf([user("a", null, "x".repeat(3_000_000)), user("b", "a", "y")]);
  const index = LineIndex.empty();
  await index.extend(memorySource(text));
  expect(shapeOf(index)).toEqual(await wholeShape(text));
});

test.each([1, 2])(
  "version %i, entries without ids and fences are left to those who read everything",
  async (version) => {
    const odd = LineIndex.empty();
    await odd.extend(memorySource(fileOf([{ type: "message", message: {} }])));
    expect(odd.isOdd).toBe(true);
    const old = LineIndex.empty();
    await old.extend(memorySource(fileOf([user("a", null, "x")], { type: "session", version, id: "s" })));
    expect(old.isOdd).toBe(true);
  },
);
