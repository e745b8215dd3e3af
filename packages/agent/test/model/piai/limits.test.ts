/** Patience on a clock that the test moves: which limit ends the wait, and when. */
import { realWorld, type World } from "@holdfast/base";
import { expect, test } from "vitest";
import { type Limit, watch } from "../../../src/model/piai/limits.ts";

const LIMITS = { headersMs: 100, firstTokenMs: 200, idleMs: 50, totalMs: 1000 };

/** Sleeping moves the clock at once; `at` runs when the clock passes a moment. */
function clock(at: Readonly<Record<number, () => void>> = {}): World & { readonly sleeps: number[] } {
  const state = { nowMs: 0 };
  const sleeps: number[] = [];
  return {
    ...realWorld(() => {}),
    sleeps,
    monotonicMs: () => state.nowMs,
    async sleep(ms, signal) {
      await Promise.resolve();
      signal?.throwIfAborted();
      sleeps.push(ms);
      for (let passed = 0; passed < ms; passed++) {
        state.nowMs += 1;
        at[state.nowMs]?.();
        signal?.throwIfAborted();
      }
    },
  };
}

async function expiry(
  script: (reached: (limit: Exclude<Limit, "totalMs">) => void) => Readonly<Record<number, () => void>>,
) {
  const box: { reached: (limit: Exclude<Limit, "totalMs">) => void } = { reached: () => {} };
  const world = clock(script((limit) => box.reached(limit)));
  const limit = await new Promise<Limit>((resolve) => {
    box.reached = watch(world, LIMITS, resolve).reached;
  });
  return { limit, atMs: world.monotonicMs() };
}

test("no headers", async () => {
  expect(await expiry(() => ({}))).toEqual({ limit: "headersMs", atMs: 100 });
});

test("headers, then nothing", async () => {
  expect(await expiry((reached) => ({ 60: () => reached("firstTokenMs") }))).toEqual({
    limit: "firstTokenMs",
    atMs: 260,
  });
});

test("a shorter limit that begins during a longer wait is not overslept", async () => {
  const { limit, atMs } = await expiry((reached) => ({
    10: () => reached("firstTokenMs"),
    20: () => reached("idleMs"),
  }));
  expect({ limit, atMs }).toEqual({ limit: "idleMs", atMs: 70 });
});

test("steady progress ends at the total", async () => {
  const steps = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [(index + 1) * 20, "idleMs" as const]));
  const script = (reached: (limit: Exclude<Limit, "totalMs">) => void) =>
    Object.fromEntries(Object.entries(steps).map(([at, limit]) => [at, () => reached(limit)]));
  expect(await expiry(script)).toEqual({ limit: "totalMs", atMs: 1000 });
});

test("disposed, it never fires", async () => {
  const world = clock({ 30: () => patience[Symbol.dispose]() });
  const fired: Limit[] = [];
  const patience = watch(world, LIMITS, (limit) => fired.push(limit));
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect(fired).toEqual([]);
  expect(world.monotonicMs()).toBe(30);
});
