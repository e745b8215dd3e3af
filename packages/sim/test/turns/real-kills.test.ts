/** Real processes, real files, SIGKILL at random moments; `HOLDFAST_LARGE=1`: 300 rounds. */
import { expect, test } from "vitest";
import { realKills, realRace } from "../../src/turns/real-kills.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const rounds = isLarge ? 300 : 2;

// Each kill costs a process that has to be started anew: about half a second of one core.
test(`${rounds} rounds of SIGKILL: every effect once, every message answered once`, { timeout: 600_000 }, async () => {
  const { kills, amidst, broken } = await realKills(rounds, 20_260_105);
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(rounds / 3);
  if (isLarge) expect(amidst).toBeGreaterThan(rounds / 4);
});

const races = isLarge ? 10 : 1;
const racers = isLarge ? 8 : 2;

// As many processes have to start for each, and one that is killed.
test(`${racers} processes recover one killed turn at once, ${races} times: every effect once`, {
  timeout: 300_000,
}, async () => {
  for (let seed = 1; seed <= races; seed++) expect((await realRace(racers, seed)).wrong).toEqual([]);
});
