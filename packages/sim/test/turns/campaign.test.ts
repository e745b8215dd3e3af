/** Turns on the simulated machine: every promise at a part of all points; under HOLDFAST_LARGE at every other operation. */
import { expect, test } from "vitest";
import { addedUp, runJobs } from "../../src/turns/campaign-of-turns.ts";
import { enumerateTurns } from "../../src/turns/enumerate-turns.ts";
import { STORIES } from "../../src/turns/stories.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";

test.each(STORIES)("$name: every promise is kept", { timeout: 60_000 }, async (one) => {
  const { points, violations } = await enumerateTurns(one, { stride: 157, offset: 20 });
  expect(violations).toEqual([]);
  expect(points).toBeGreaterThan(5);
});

// Some minutes of two cores: deaths and freezes at every other operation, refusals, each of which is played, at some; `npm run campaign` has all.
test.runIf(isLarge)("all stories, second faults too: at least 10,000 points", { timeout: 1_500_000 }, async () => {
  const names = STORIES.map(({ name }) => name);
  const deaths = names.map((story) => ({
    story,
    options: { refusals: false, secondStride: 307, stride: 2, offset: 0 },
  }));
  const refused = names.map((story) => ({ story, options: { deaths: false, freezes: false, stride: 41, offset: 2 } }));
  const reports = addedUp(await runJobs([...deaths, ...refused]));
  expect(reports.flatMap(({ violations }) => violations)).toEqual([]);
  expect(reports).toHaveLength(STORIES.length);
  expect(reports.reduce((sum, { points, secondPoints }) => sum + points + secondPoints, 0)).toBeGreaterThan(10_000);
});
