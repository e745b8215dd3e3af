/** Two, four and eight gateways recover one turn at the same time. */
import { expect, test } from "vitest";
import { MUTANTS } from "../../src/turns/mutants.ts";
import { PROPERTIES, racesOf, shared } from "../../src/turns/races.ts";
import { RACED, STORIES } from "../../src/turns/stories.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const RACERS = [2, 4, 8];
const every = isLarge ? 25 : 200;
const seeds = isLarge ? [1, 2, 3] : [1];
const KEPT = Object.fromEntries(PROPERTIES.map((property) => [property, []]));
const storyOf = (name: string) => shared(STORIES.find((one) => one.name === name)!);

const cases = RACED.flatMap((name) => RACERS.map((count) => ({ name, count })));

test.each(cases)("$name, $count gateways: all six properties", { timeout: 120_000 }, async ({ name, count }) => {
  const { found, races } = await racesOf(storyOf(name), { every, count, seeds });
  expect(found).toEqual(KEPT);
  expect(races).toBeGreaterThan(1);
});

test("they do race: with a right for everybody there are two results", { timeout: 60_000 }, async () => {
  const { mutate } = MUTANTS.find(({ mistake }) => mistake === "the right is given to everybody who asks")!;
  const story = { ...storyOf("a business act"), mutate };
  const { found } = await racesOf(story, { every: 30, count: 4, seeds: [1, 2] });
  expect(found["exactly-once effect"].length).toBeGreaterThan(0);
});
