/** Attempts: three without progress, eight in all; delays from 1 s to 30 s. */
import { expect, test } from "vitest";
import { backoffMs, charged, refunded, waitedMs } from "../src/budget.ts";
import type { LaneItem } from "../src/lanes.ts";

const fresh = { attempts: 0, idleAttempts: 0, progress: 0 } as LaneItem;

function attemptsUntilRefused(progress: (attempt: number) => number): number {
  let item = fresh;
  for (let attempt = 1; attempt < 100; attempt++) {
    const patch = charged(item, progress(attempt));
    if (patch === null) return attempt - 1;
    item = { ...item, ...patch };
  }
  return Number.POSITIVE_INFINITY;
}

test("three attempts without progress", () => expect(attemptsUntilRefused(() => 0)).toBe(3));
test("eight in all, whatever the progress", () => expect(attemptsUntilRefused((attempt) => attempt)).toBe(8));
test("progress once earns three more", () => expect(attemptsUntilRefused((attempt) => (attempt > 2 ? 1 : 0))).toBe(5));
test("a refund takes one charge back and never goes below none", () => {
  expect(refunded({ ...fresh, attempts: 2, idleAttempts: 1 })).toEqual({ attempts: 1, idleAttempts: 0 });
  expect(refunded(fresh)).toEqual({ attempts: 0, idleAttempts: 0 });
});
test("delays double from 1 s to 30 s", () => {
  expect([1, 2, 3, 5, 6, 50].map(backoffMs)).toEqual([1000, 2000, 4000, 16_000, 30_000, 30_000]);
  expect([0, 1, 3, 6, 7].map(waitedMs)).toEqual([0, 1000, 7000, 61_000, 91_000]);
});
