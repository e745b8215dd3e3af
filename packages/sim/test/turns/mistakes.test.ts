/**
 * Mistakes somebody could make, one for each rule of docs/durability.md that speaks of turns, actions, lanes or replies. They
 * were written down from the rules alone, before it was known how each would be made (src/turns/mutants.ts); each has to be found.
 */
import { expect, test } from "vitest";
import { enumerateTurns } from "../../src/turns/enumerate-turns.ts";
import { MUTANTS } from "../../src/turns/mutants.ts";
import { STORIES } from "../../src/turns/stories.ts";

test.each(MUTANTS)("$rule; instead: $mistake", { timeout: 120_000 }, async ({ story, mutate, needs = "deaths" }) => {
  const known = STORIES.find(({ name }) => name === story)!;
  const faults = { deaths: false, refusals: false, freezes: false, [needs]: true };
  const { violations } = await enumerateTurns({ ...known, mutate }, { ...faults, first: true });
  expect(violations).toHaveLength(1);
});
