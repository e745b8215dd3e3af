/** The turn right: a process that slept through its lease is stopped, and what happens when it is not. */
import { describe, expect, test } from "vitest";
import { explore } from "../../src/protocol/explore.ts";
import { type TurnMistakes, turnRightModel } from "../../src/protocol/turn-right.ts";

function look(crashes: number, sleeps: number, mistakes: TurnMistakes = {}) {
  return explore(turnRightModel({ processes: 3, crashes, sleeps, mistakes }), 100_000);
}

describe("the turn right", () => {
  test("holds with a crash, and with a sleep", () => {
    expect(look(1, 0)).toMatchObject({ complete: true, counterexample: null });
    expect(look(0, 1)).toMatchObject({ complete: true, counterexample: null });
  });
  test.each<[string, TurnMistakes, RegExp]>([
    ["no check", { noCheck: true }, /under turn 1 after turn 2 was given/],
    ["a check before the lock instead of under it", { checkOutsideLock: true }, /under turn 1 after turn 2 was given/],
    ["a lease taken over under its old number", { keepNumber: true }, /turn 1 has two owners/],
  ])("does not hold with %s", (_what, mistakes, why) => {
    const { counterexample } = look(0, 1, mistakes);
    expect(counterexample?.why).toMatch(why);
    expect(counterexample?.trace).toContain("P1 falls asleep");
  });
});
