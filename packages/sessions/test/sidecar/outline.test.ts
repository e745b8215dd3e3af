/** Both kinds of outline answer the same; a place that is wrong is an error, not an answer. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { memorySource } from "../../src/reading/source.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { type Outline, outlineOfIndex, outlineOfWhole, WrongPlace } from "../../src/sidecar/outline.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { custom, fileOf, make, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

async function described(tree: Outline): Promise<unknown> {
  const nodes = Array.from({ length: tree.size }, (_, node) => node).filter((node) => !tree.isPassedOver(node));
  const rows = nodes.map(async (node) => {
    const entry = await tree.read(node);
    const found = await tree.find(entry.id);
    const parent = tree.parentOf(node);
    return [
      tree.offsetOf(node),
      tree.endOf(node),
      tree.typeOf(node),
      tree.offsetOf(found),
      parent === -1 ? null : tree.offsetOf(parent),
      entry,
    ];
  });
  const leaf = await tree.leaf();
  return {
    rows: await Promise.all(rows),
    leaf: leaf === -1 ? null : tree.offsetOf(leaf),
    none: await tree.find("no such id"),
  };
}

test("an index and the whole file say the same of sound and damaged files", async () => {
  await fc.assert(
    fc.asyncProperty(transcripts, damages, async (entries, all) => {
      const text = damagedFile(
        entries,
        all.filter(({ how }) => !how.endsWith("torn")),
        "\n",
      );
      const index = LineIndex.empty();
      await index.extend(memorySource(text));
      if (index.isOdd) return;
      const ours = outlineOfIndex(index, memorySource(text));
      expect(await described(ours)).toEqual(await described(await outlineOfWhole(memorySource(text))));
    }),
    { seed: 6, numRuns: 200 },
  );
});

test("times and the leaf of a late entry whose way back was cut", async () => {
  const text = fileOf([
    user("a", null, "x"),
    make("label", "b", "a", { timestamp: "no time" }),
    custom("c", null, "x", {}, { returnTo: "b" }),
  ]);
  const index = LineIndex.empty();
  await index.extend(memorySource(text));
  for (const tree of [outlineOfIndex(index, memorySource(text)), await outlineOfWhole(memorySource(text))]) {
    expect([tree.timeOf(0), tree.timeOf(1)]).toEqual([Date.parse("2026-01-05T09:00:01.000Z"), Number.NaN]);
    expect(await tree.leaf()).toBe(1);
  }
});

test("a line that is another entry, or none, is a wrong place", async () => {
  const index = LineIndex.empty();
  await index.extend(memorySource(fileOf([user("a1", null, "x"), user("b1", "a1", "y")])));
  for (const lines of [
    [user("a2", null, "x"), user("b2", "a1", "y")],
    ["a1", "b1"],
  ]) {
    const tree = outlineOfIndex(index, memorySource(fileOf(lines)));
    await expect(tree.read(0)).rejects.toThrow(WrongPlace);
    await expect(tree.find("b1")).rejects.toThrow(WrongPlace);
    await expect(tree.leaf()).rejects.toThrow(WrongPlace);
  }
});
