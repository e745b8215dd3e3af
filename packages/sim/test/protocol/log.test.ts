/** What the models promise about a log, case by case. */
import { describe, expect, test } from "vitest";
import { brokenLog, greatestG, isStaleAt, type Line, leafOf } from "../../src/protocol/log.ts";

const line = (by: string, g: number, parent: number, acknowledged = true): Line => {
  return { kind: "line", g, by, parent, acknowledged };
};
const fence = (g: number): Line => ({ kind: "fence", g, by: "F", parent: -1, acknowledged: false });

describe("a log", () => {
  test("is in order when each line hangs on the one before", () => {
    expect(brokenLog([])).toBeNull();
    expect(brokenLog([line("A", 1, -1), fence(2), line("B", 2, 0), line("A", 1, -1, false)])).toBeNull();
  });
  test("has a line after a higher fence as stale, and never as its leaf", () => {
    const log = [line("A", 1, -1), fence(3), line("B", 2, 0, false)];
    expect([0, 1, 2].map((index) => isStaleAt(log, index))).toEqual([false, false, true]);
    expect(leafOf(log)).toBe(0);
    expect(leafOf([fence(1)])).toBe(-1);
    expect(greatestG(log)).toBe(3);
  });
  test.each<[string, readonly Line[], RegExp]>([
    ["an acknowledged line is stale", [fence(2), line("A", 1, -1)], /of A is stale/],
    ["an acknowledged line left the path", [line("A", 1, -1), line("B", 2, -1)], /of A is not on the path/],
    ["one generation has two writers", [line("A", 1, -1), line("B", 1, 0)], /A and B .* generation 1/],
  ])("is broken when %s", (_what, log, why) => {
    expect(brokenLog(log)).toMatch(why);
  });
});
