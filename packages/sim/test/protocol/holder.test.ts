/** What a holder may not leave out, and in which order things have to be. */
import { expect, test } from "vitest";
import { explore } from "../../src/protocol/explore.ts";
import type { Mistakes, WriteLockBounds } from "../../src/protocol/lock-state.ts";
import { writeLockModel } from "../../src/protocol/write-lock.ts";

const SLEEP: WriteLockBounds = { mode: "create", processes: 3, crashes: 0, sleeps: 1 };
const CRASH: WriteLockBounds = { mode: "create", processes: 3, crashes: 1, sleeps: 0 };

test.each<[string, WriteLockBounds, Mistakes, RegExp]>([
  ["no fence", SLEEP, { skipFence: true }, /lost from sight/],
  ["no check after the sync", SLEEP, { noCheckAfterSync: true }, /is stale/],
  ["no check before the write", CRASH, { noCheckBeforeWrite: true }, /lost from sight/],
  ["a generation kept only after the check", SLEEP, { noteAfterCheck: true }, /lost from sight/],
])("with %s an acknowledged line is lost", (_what, bounds, mistakes, why) => {
  const { counterexample } = explore(writeLockModel({ ...bounds, mistakes }), 100_000);
  expect(counterexample?.why).toMatch(why);
});
