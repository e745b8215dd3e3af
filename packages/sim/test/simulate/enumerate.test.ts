/**
 * The real engine on the simulated disk: every fault at every operation of every scenario. Plain `npm test` has one fault
 * per point; `HOLDFAST_LARGE=1` cuts writes at every byte. Second faults: second.test.ts.
 */
import { describe, expect, test } from "vitest";
import { enumerate } from "../../src/simulate/enumerate.ts";
import {
  beforeSync,
  type Mutation,
  withoutDirectorySync,
  withoutFileSync,
  withoutLocks,
  withoutSync,
  withSyncTriedAgain,
} from "../../src/simulate/mutants.ts";
import { SCENARIOS } from "../../src/simulate/scenarios.ts";

const LARGE = process.env.HOLDFAST_LARGE === "1";
const MINUTES = 60_000;

describe("no promise breaks, wherever it goes wrong", () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => {
      const all = await enumerate(scenario, { seed: 1, everyByte: LARGE });
      expect(all.violations).toEqual([]);
      expect(all.deaths).toBeGreaterThan(500);
      expect(all.refusals).toBeGreaterThan(80);
      expect(all.freezes).toBeGreaterThan(50);
    },
    5 * MINUTES,
  );
});

/** Each mistake, a scenario in which it matters, and what the checker must say. */
const MISTAKES: readonly (readonly [string, Mutation, string, RegExp])[] = [
  ["nothing is synced", withoutSync, "append", /was acknowledged and is not there/],
  ["acknowledged before the sync", beforeSync, "append", /was acknowledged and is not there/],
  ["a failed sync is tried again", withSyncTriedAgain, "append", /was acknowledged and is not there/],
  ["names are not synced", withoutDirectorySync, "create", /was told to be|is not there|its row/],
  ["named before the content is synced", withoutFileSync, "create", /has no header/],
  ["everybody gets the lock", withoutLocks, "append", /was written by/],
];

describe("the checker sees", () => {
  test.each(MISTAKES)("%s", async (_name, disk, name, sentence) => {
    const scenario = SCENARIOS.find((one) => one.name === name);
    if (scenario === undefined) throw new TypeError(`no scenario ${name}`);
    const { violations } = await enumerate(scenario, { seed: 1, disk });
    expect(violations.flatMap(({ what }) => what).join("\n")).toMatch(sentence);
  });
});

test("the same seed gives the same points", async () => {
  const [scenario] = SCENARIOS;
  if (scenario === undefined) throw new TypeError("no scenarios");
  expect(await enumerate(scenario, { seed: 7, stride: 5 })).toEqual(await enumerate(scenario, { seed: 7, stride: 5 }));
});
