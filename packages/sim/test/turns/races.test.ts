/** Two, four and eight gateways recover one turn at the same time. */
import { expect, test } from "vitest";
import { PROPERTIES, propertiesOf, remainsOf, shared } from "../../src/turns/races.ts";
import { STORIES } from "../../src/turns/stories.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const NAMES = ["something nobody can tell", "one file written", "a business act"];
const RACERS = [2, 4, 8];
const seeds = isLarge ? [1, 2, 3, 4, 5] : [1, 2];

const cases = NAMES.flatMap((name) => RACERS.map((count) => ({ name, count })));

test.each(cases)("$name, $count racers: all six properties", { timeout: 120_000 }, async ({ name, count }) => {
  const story = shared(STORIES.find((one) => one.name === name)!);
  for (const left of await remainsOf(story, isLarge ? 20 : 120))
    expect(await propertiesOf(story, left, { count, seeds })).toEqual(
      Object.fromEntries(PROPERTIES.map((property) => [property, []])),
    );
});
