/** How a lock that is a file may not be taken, put back and released: what it leads to, and how it shows. */
import { expect, test } from "vitest";
import { explore } from "../../src/protocol/explore.ts";
import type { Mistakes, WriteLockBounds } from "../../src/protocol/lock-state.ts";
import { writeLockModel } from "../../src/protocol/write-lock.ts";

const CREATE: WriteLockBounds = { mode: "create", processes: 3, crashes: 0, sleeps: 0 };

function look(bounds: WriteLockBounds, mistakes: Mistakes) {
  return explore(writeLockModel({ ...bounds, mistakes }), 100_000);
}

test("judging a live holder by age refuses somebody who did nothing wrong", () => {
  const { counterexample } = look(CREATE, { reclaimFromLive: true });
  expect(counterexample?.why).toMatch(/refused although nobody crashed or slept/);
});

test("one name for all evidence: somebody unlinks the trace of another, and nobody fences", () => {
  const { counterexample } = look({ ...CREATE, leftBehind: true }, { oneEvidenceName: true });
  expect(counterexample?.why).toMatch(/lost from sight/);
  expect(counterexample?.trace.filter((step) => step.includes("aside")).length).toBeGreaterThan(1);
});

test("release by looking and unlinking: between the two the lock is somebody else's", () => {
  const { counterexample } = look({ ...CREATE, sleeps: 1 }, { releaseByUnlink: true });
  expect(counterexample?.why).toMatch(/lost from sight/);
});

test("a lock put back with rename takes away the one that was made meanwhile; link does not", () => {
  const bounds = { ...CREATE, crashes: 1 };
  expect(look(bounds, { oneEvidenceName: true }).counterexample).toBeNull();
  const { counterexample } = look(bounds, { oneEvidenceName: true, putBackByRename: true });
  expect(counterexample?.why).toMatch(/refused/);
  expect(counterexample?.trace.join("\n")).toMatch(/renames P\d back/);
});
