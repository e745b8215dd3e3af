/** Folding the index while somebody writes and somebody reads: nothing acknowledged is missing from what is read. */
import { expect, test } from "vitest";
import { explore } from "../../src/protocol/explore.ts";
import { type FoldMistakes, foldModel } from "../../src/protocol/index-fold.ts";

const BOUNDS = { changes: 2, folders: 1, crashes: 1 };

test("holds, also when a fold is cut off", () => {
  expect(explore(foldModel(BOUNDS), 50_000)).toMatchObject({ complete: true, counterexample: null });
});

test.each<[string, FoldMistakes]>([
  ["a journal begun outside of the lock", { beginOutsideLock: true }],
  ["journals deleted before the snapshot is in its place", { deleteFirst: true }],
  ["journals listed once", { listOnce: true }],
])("does not hold with %s", (_what, mistakes) => {
  const { counterexample } = explore(foldModel({ ...BOUNDS, mistakes }), 50_000);
  expect(counterexample?.why).toMatch(/the reader got row \d/);
});
