/** The write lock as it should be, and the kernel's mode with a lock that is taken from a sleeper. */
import { expect, test } from "vitest";
import { explore } from "../../src/protocol/explore.ts";
import type { WriteLockBounds } from "../../src/protocol/lock-state.ts";
import { writeLockModel } from "../../src/protocol/write-lock.ts";

const BOUNDS: WriteLockBounds = { mode: "kernel", processes: 3, crashes: 1, sleeps: 1 };

test("holds in the kernel's mode, which needs no fence", () => {
  expect(explore(writeLockModel(BOUNDS), 10_000)).toMatchObject({ complete: true, counterexample: null });
});

test("a lock taken from a sleeper loses what was acknowledged", () => {
  const { counterexample } = explore(writeLockModel({ ...BOUNDS, mistakes: { reclaimFromLive: true } }), 50_000);
  expect(counterexample?.why).toMatch(/lost from sight/);
  expect(counterexample?.trace.join("\n")).toMatch(/takes the lock from P\d/);
});
