/** The tree against a recursive model, and the rules for links that cannot be. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Tree, type TreeNode, treeOf } from "../src/tree.ts";

const never = (): boolean => false;
const path = (tree: Tree<TreeNode>, id: string): string[] => tree.pathTo(tree.indexOf(id)).map((node) => node.id);

describe("links that cannot be", () => {
  test.each<[string, readonly TreeNode[], readonly string[], number]>([
    [
      "to a later entry",
      [
        { id: "m1", parentId: "m3" },
        { id: "m2", parentId: "m1" },
        { id: "m3", parentId: "m2" },
      ],
      ["m1", "m2", "m3"],
      1,
    ],
    [
      "to itself",
      [
        { id: "a", parentId: null },
        { id: "b", parentId: "b" },
      ],
      ["a", "b"],
      1,
    ],
    [
      "to nothing",
      [
        { id: "a", parentId: null },
        { id: "b", parentId: "x" },
        { id: "c", parentId: "b" },
      ],
      ["a", "b", "c"],
      1,
    ],
    [
      "to nothing, in the first entry",
      [
        { id: "a", parentId: "x" },
        { id: "b", parentId: "a" },
      ],
      ["a", "b"],
      1,
    ],
    [
      "two circles joined",
      [
        { id: "a", parentId: "b" },
        { id: "b", parentId: "a" },
        { id: "c", parentId: "d" },
        { id: "d", parentId: "c" },
      ],
      ["a", "b", "c", "d"],
      2,
    ],
    ["missing in the first entry is a root", [{ id: "a" }, { id: "b", parentId: "a" }], ["a", "b"], 0],
    ["missing later", [{ id: "a" }, { id: "b" }], ["a", "b"], 1],
  ])("%s", (_, nodes, expected, gaps) => {
    const tree = treeOf(nodes, never);
    expect(path(tree, nodes.at(-1)?.id ?? "")).toEqual(expected);
    expect(tree.gaps.length).toBe(gaps);
  });

  test("a gap says what was bridged; an unsound entry is never a bridge's end", () => {
    const tree = new Tree<TreeNode>();
    tree.add({ id: "a", parentId: null }, never);
    tree.add({ id: "s", parentId: "a" }, never, false);
    tree.add({ id: "b", parentId: "lost" }, never);
    expect(tree.gaps).toEqual([{ id: "b", parentId: "lost", bridgedTo: "a" }]);
    expect(treeOf([{ id: "a", parentId: "x" }], never).gaps).toEqual([{ id: "a", parentId: "x", bridgedTo: null }]);
  });
});

describe("repeated ids", () => {
  const nodes = [
    { id: "a", parentId: null },
    { id: "b", parentId: "a" },
    { id: "b", parentId: null },
    { id: "c", parentId: "b" },
  ];
  test("the same entry again is ignored", () => {
    const tree = new Tree<TreeNode>();
    const added = nodes.map((node) => tree.add(node, () => true));
    expect(added.map((one) => one.kind)).toEqual(["added", "added", "ignored", "added"]);
    expect(path(tree, "c")).toEqual(["a", "b", "c"]);
  });
  test("another entry of the same id is kept, and later children bind to it", () => {
    const tree = new Tree<TreeNode>();
    const added = nodes.map((node) => tree.add(node, never));
    expect(added[2]).toEqual({ kind: "added", index: 2, repeats: true });
    expect(path(tree, "c")).toEqual(["b", "c"]);
    expect(tree.size).toBe(4);
  });
});

test("paths, children, leaves and common ancestors equal a simple model", () => {
  const shapes = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(shapes, fc.nat(), fc.nat(), (shape, x, y) => {
      const parents = shape.map((pick, index) => (index === 0 ? -1 : (pick % (index + 1)) - 1));
      const tree = treeOf(
        parents.map((parent, index) => ({ id: `${index}`, parentId: parent === -1 ? null : `${parent}` })),
        never,
      );
      const up = (index: number): number[] => (index === -1 ? [] : [...up(parents[index] ?? -1), index]);
      const [a, b] = [x % shape.length, y % shape.length];
      expect(tree.pathTo(a).map((node) => Number(node.id))).toEqual(up(a));
      expect(tree.commonAncestor(a, b)).toBe(up(a).findLast((one) => up(b).includes(one)) ?? -1);
      const all = [...parents.keys()];
      expect(tree.leaves()).toEqual(all.filter((one) => !parents.includes(one)));
      for (const one of [-1, ...all]) {
        expect(tree.children().get(one) ?? []).toEqual(all.filter((child) => parents[child] === one));
      }
    }),
    { seed: 3 },
  );
});

test("a path of a million entries needs no stack; what is not there is empty or refused", () => {
  const tree = new Tree<TreeNode>();
  for (let index = 0; index < 1_000_000; index++) {
    tree.add({ id: `${index}`, parentId: index === 0 ? null : `${index - 1}` }, never);
  }
  expect(tree.pathTo(999_999).length).toBe(1_000_000);
  expect(tree.pathTo(-1)).toEqual([]);
  expect(tree.indexOf("nobody")).toBe(-1);
  expect(tree.parentOf(5_000_000)).toBe(-1);
  expect(() => tree.pathTo(5_000_000)).toThrow(RangeError);
});

test("a node that is not sound takes no id from an earlier one, and is what its id names where there is none", () => {
  const tree = new Tree<TreeNode>();
  tree.add({ id: "a", parentId: null }, never);
  tree.add({ id: "b", parentId: "a" }, never);
  expect(tree.add({ id: "b", parentId: null }, never, false)).toEqual({ kind: "added", index: 2, repeats: true });
  tree.add({ id: "x", parentId: "a" }, never, false);
  tree.add({ id: "c", parentId: "b" }, never);
  expect(tree.pathTo(4).map((node) => tree.nodes.indexOf(node))).toEqual([0, 1, 4]);
  expect(tree.indexOf("x")).toBe(3);
});
