/** Trees laid out for reading: every shown entry once, branches tied to where they begin. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { sectionsOf } from "../../src/formats/sections.ts";
import { type TreeNode, treeOf } from "../../src/tree.ts";

function tree(parents: readonly number[]) {
  const nodes = parents.map((parent, index): TreeNode => {
    return { id: `n${index}`, parentId: parent === -1 ? null : `n${parent}` };
  });
  return treeOf(nodes, () => false);
}

const shown = () => true;

test("one conversation is one section", () => {
  expect(sectionsOf(tree([-1, 0, 1]), 2, shown)).toEqual([{ entries: [0, 1, 2], after: -1 }]);
});

test("another answer, a root of its own, and what comes after the leaf", () => {
  expect(sectionsOf(tree([-1, 0, 1, 0, -1, 3]), 5, shown)).toEqual([
    { entries: [0, 3, 5], after: -1 },
    { entries: [1, 2], after: 0 },
    { entries: [4], after: -1 },
  ]);
  expect(sectionsOf(tree([-1, 0, 1]), 1, shown)).toEqual([
    { entries: [0, 1], after: -1 },
    { entries: [2], after: 1 },
  ]);
});

test("what is not shown makes no section, and a branch is tied to the shown entry before it", () => {
  expect(sectionsOf(tree([-1, 0, 1, 1]), 3, (index) => index !== 1)).toEqual([
    { entries: [0, 3], after: -1 },
    { entries: [2], after: 0 },
  ]);
  expect(sectionsOf(tree([-1, 0, 0]), 1, (index) => index !== 2)).toEqual([{ entries: [0, 1], after: -1 }]);
});

test("every shown entry stands in exactly one section, after its parent", () => {
  const anyTree = fc.array(fc.nat({ max: 9 }), { maxLength: 40 }).map((jumps) => {
    return jumps.map((jump, index) => (jump === 9 ? -1 : Math.max(-1, index - 1 - jump)));
  });
  fc.assert(
    fc.property(anyTree, fc.nat({ max: 39 }), fc.nat({ max: 3 }), (parents, leaf, hidden) => {
      fc.pre(parents.length > 0);
      const isShown = (index: number): boolean => index % 4 !== hidden;
      const sections = sectionsOf(tree(parents), leaf % parents.length, isShown);
      const all = sections.flatMap(({ entries }) => entries);
      expect(all.toSorted((a, b) => a - b)).toEqual([...parents.keys()].filter(isShown));
      for (const { entries, after } of sections.slice(1)) expect(after).toBeLessThan(entries[0] ?? -1);
    }),
  );
});

test("a path of half a million entries is no matter", () => {
  const parents = Array.from({ length: 500_000 }, (_, index) => index - 1);
  expect(sectionsOf(tree(parents), parents.length - 1, shown)).toHaveLength(1);
});
