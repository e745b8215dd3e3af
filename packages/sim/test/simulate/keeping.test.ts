/**
 * Whole conversations on the simulated disk: ended, put away, brought back, copied, repaired, carried in. Plain `npm test`
 * looks at some operations; `HOLDFAST_LARGE=1` at each (second.test.ts).
 */
import { describe, expect, test } from "vitest";
import { scenarioNamed } from "../../src/simulate/all-scenarios.ts";
import { enumerate } from "../../src/simulate/enumerate.ts";
import {
  madeInPlace,
  packedTooLate,
  packedUnsynced,
  repairedInPlace,
  repairedTooEarly,
  withBothNames,
  withoutOriginal,
  withRefusedNames,
  withScrap,
  withTornRows,
  withWrongIndex,
} from "../../src/simulate/keeping-mutants.ts";
import { KEEPING_SCENARIOS } from "../../src/simulate/keeping-scenarios.ts";
import { type Mutation, withoutDirectorySync, withoutSync } from "../../src/simulate/mutants.ts";

/** Of those that cost most fewer are looked at. */
const STRIDES: Readonly<Record<string, number>> = { retention: 40, "index beside the transcript": 120 };
const STRIDE = 13;
const MINUTE = 60_000;

describe("no promise breaks, wherever it goes wrong", () => {
  test.each(KEEPING_SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => {
      const some = await enumerate(scenario, { seed: 1, stride: STRIDES[scenario.name] ?? STRIDE });
      expect(some.violations).toEqual([]);
      expect(some.deaths).toBeGreaterThan(8);
    },
    MINUTE,
  );
});

test("an index that leaves out an entry, under sums that are right, changes no answer", async () => {
  const scenario = scenarioNamed("index beside the transcript");
  const { violations } = await enumerate(scenario, { seed: 1, disk: withWrongIndex, only: /nothing/ });
  expect(violations).toEqual([]);
});

/** Each mistake, a scenario and the operations in which it matters, and what the checker must say. */
const MISTAKES: readonly (readonly [string, Mutation, string, RegExp, RegExp])[] = [
  ["a move leaves the old name", withBothNames, "archive", /./, /its row says/],
  ["a move is a copy, made when the original has gone", withoutOriginal, "archive", /^remove/, /and is not there/],
  ["the original goes before its packed copy has a name", packedTooLate, "archive", /^remove/, /and is not there/],
  ["a packed copy is named before it is synced", packedUnsynced, "archive", /^make/, /acknowledged and is not there/],
  ["names that were refused their sync count as synced", withRefusedNames, "reset", /^syncDir/, /and is not there/],
  ["names are not synced", withoutDirectorySync, "restore", /^make/, /is not there/],
  ["nothing is synced", withoutSync, "reset", /^make/, /was acknowledged and is not there/],
  ["a copy is made under its own name", madeInPlace, "fork", /^create/, /has no header/],
  ["what was made aside stays", withScrap, "restore", /./, /was left behind/],
  ["a repair takes the place of the original", repairedInPlace, "repair", /./, /is not what it was/],
  [
    "a repair is named before what it leaves out",
    repairedTooEarly,
    "repair",
    /^link/,
    /without what could not be used/,
  ],
  ["a row without its line feed is one later on", withTornRows, "retention", /^write sessions.journal/, /its row says/],
];

describe("the checker sees", () => {
  test.each(MISTAKES)(
    "%s",
    async (_name, disk, name, only, sentence) => {
      const { violations } = await enumerate(scenarioNamed(name), { seed: 1, disk, only, untilBroken: true });
      expect(violations.flatMap(({ what }) => what).join("\n")).toMatch(sentence);
    },
    MINUTE,
  );
});
