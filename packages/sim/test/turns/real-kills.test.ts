/** Real processes, real files, SIGKILL at random moments; `HOLDFAST_LARGE=1`: 300 rounds. */
import { expect, test } from "vitest";
import { realKills, realRace } from "../../src/turns/real-kills.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const rounds = isLarge ? 300 : 2;

// Each kill costs a process that has to be started anew: about half a second of one core.
test(`${rounds} rounds of SIGKILL: every effect once, every message answered once`, {
  timeout: 1_200_000,
}, async () => {
  const { kills, amidst, broken } = await realKills(rounds, 20_260_105);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(rounds / 3);
  if (isLarge) expect(amidst).toBeGreaterThan(rounds / 4);
});

const RACES = 2;
const RACERS = 8;

// Whoever recovers waits until the lease of the one that was killed has run out: half a minute for each race.
test.runIf(isLarge)(
  `${RACERS} processes recover one killed turn at once, ${RACES} times: every effect once`,
  {
    timeout: 600_000,
  },
  async () => {
    for (let seed = 1; seed <= RACES; seed++) expect((await realRace(RACERS, seed)).wrong).toEqual([]);
  },
);
