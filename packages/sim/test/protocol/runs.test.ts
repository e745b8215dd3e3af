/** The runs that `npm run protocol` makes: the small ones hold to the end. The mistakes have tests of their own. */
import { expect, test } from "vitest";
import { LARGE, MISTAKEN, SMALL } from "../../src/protocol/runs.ts";

test.each(SMALL)("$name holds", (run) => {
  expect(run.explore(20_000)).toMatchObject({ complete: true, counterexample: null });
});

test("the large runs are the small ones and more, no two alike", () => {
  const names = [...LARGE, ...MISTAKEN].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(LARGE.slice(0, SMALL.length)).toEqual(SMALL);
});
