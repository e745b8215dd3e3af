/** Limits that only make sense together. */
import { LIMITS } from "@holdfast/base";
import { expect, test } from "vitest";

test("a lease is renewed at least twice before it ends", () => {
  expect(LIMITS.leaseRenewMs).toBeLessThan(LIMITS.leaseMs / 2);
});

test("a message fits into an entry, and a transcript's tail into one read", () => {
  expect(LIMITS.messageBytesMax).toBeLessThan(LIMITS.entryBytesMax);
  expect(LIMITS.tailCompareBytes).toBeLessThanOrEqual(LIMITS.readChunkBytes);
});

test("a lock is waited for less long than a hold is a bug, and that less than a holder is stale", () => {
  expect(LIMITS.writeLockTimeoutMs).toBeLessThan(LIMITS.writeLockMaxHoldMs);
  expect(LIMITS.writeLockMaxHoldMs).toBeLessThan(LIMITS.writeLockStaleMs);
});

test("every limit is a positive whole number and ends with its unit", () => {
  for (const [name, value] of Object.entries(LIMITS)) {
    expect(Number.isSafeInteger(value) && value > 0, name).toBe(true);
    expect(name).toMatch(/(Ms|Max|Min|Bytes)$/);
  }
});
