/**
 * Locks that are files, on the simulated disk: taken over from the dead and from sleepers, who wake late, aware of the time
 * or not. Plain `npm test` looks at some operations; `HOLDFAST_LARGE=1` at each.
 */
import { describe, expect, test } from "vitest";
import { scenarioNamed } from "../../src/simulate/all-scenarios.ts";
import { enumerate } from "../../src/simulate/enumerate.ts";
import { withJournalsMadeAnew, withoutFence, withoutLook } from "../../src/simulate/lock-mutants.ts";
import { LOCK_SCENARIOS } from "../../src/simulate/lock-scenarios.ts";
import type { Mutation } from "../../src/simulate/mutants.ts";

const LARGE = process.env.HOLDFAST_LARGE === "1";
const MINUTES = 60_000;

describe("no promise breaks, wherever it goes wrong", () => {
  test.each(LOCK_SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => {
      const some = await enumerate(scenario, { seed: 1, stride: LARGE ? 1 : 61 });
      expect(some.violations).toEqual([]);
      expect(some.deaths).toBeGreaterThan(10);
      expect(some.freezes).toBeGreaterThan(1);
    },
    5 * MINUTES,
  );
});

/** Each mistake, a scenario and the operations in which it matters, and what the checker must say. */
const MISTAKES: readonly (readonly [string, Mutation, string, RegExp, RegExp])[] = [
  ["no fence", withoutFence, "append", /^write .*jsonl$/, /not below|generation|is there/],
  [
    "nobody looks whether the lock is still theirs",
    withoutLook,
    "index",
    /^write sessions.journal/,
    /its row|was told to be/,
  ],
  ["a journal is made anew", withJournalsMadeAnew, "index", /^stat sessions.held/, /was told to be/],
];

describe("the checker sees", () => {
  test.each(MISTAKES)(
    "%s",
    async (_name, disk, name, only, sentence) => {
      const scenario = scenarioNamed(`${name}, locks are files`);
      const { violations } = await enumerate(scenario, { seed: 1, disk, only, untilBroken: true });
      expect(violations.flatMap(({ what }) => what).join("\n")).toMatch(sentence);
    },
    MINUTES,
  );
});
