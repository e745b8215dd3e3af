/** Repeated ids and hashes that are shared by two ids; the rest is shown against whole files (line-index.test.ts). */
import { expect, test } from "vitest";
import { memorySource } from "../../src/reading/source.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { NodeTree } from "../../src/sidecar/node-tree.ts";
import { SlotList } from "../../src/sidecar/slot-list.ts";
import { SLOT_WORDS } from "../../src/sidecar/slots.ts";
import { fileOf, user } from "../support/make.ts";

async function treeOf(text: string): Promise<NodeTree> {
  const index = LineIndex.empty();
  await index.extend(memorySource(text));
  return index.tree;
}

test("an id is found, or certainly not there; of several the last counts", async () => {
  const tree = await treeOf(
    fileOf([user("a", null, "x"), user("b", "a", "y"), user("a", "b", "z"), user("c", "a", "w")]),
  );
  expect(["a", "b", "d"].map((id) => tree.find(id))).toEqual([2, 1, -1]);
  expect([0, 1, 2, 3].map((node) => tree.parentOf(node))).toEqual([-1, 0, 1, 2]);
  expect([tree.repeats, tree.isPassedOver(2), tree.size]).toEqual([1, false, 4]);
});

test("the same entry again is passed over, and bridges nothing", async () => {
  const again = user("a", null, "x", { g: 4 });
  const tree = await treeOf(fileOf([user("a", null, "x"), user("b", "a", "y"), again, user("c", "nobody", "w")]));
  expect([tree.isPassedOver(2), tree.find("a"), tree.parentOf(3)]).toEqual([true, 0, 1]);
});

test("two ids with one hash make it ambiguous", async () => {
  const text = fileOf([user("a", null, "x"), user("b", null, "y")]);
  const { slots } = await treeOf(text);
  const words = slots.words.slice(0, 2 * SLOT_WORDS);
  words.copyWithin(SLOT_WORDS, 0, 2);
  const tree = new NodeTree(new SlotList(words));
  await tree.place(memorySource(text));
  expect(tree.isAmbiguous).toBe(true);
});
