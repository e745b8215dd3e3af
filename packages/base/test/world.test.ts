/** The real world: ids that sort by time, sleep that can be interrupted, timers that do not hold the process. */
import { getEventListeners } from "node:events";
import { type IdKind, makeId, realWorld, uuidV7 } from "@holdfast/base";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startChild } from "./support/child.ts";

const LAST_MS = 2 ** 48 - 1;
const sixteen = fc.uint8Array({ minLength: 16, maxLength: 16 });
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("ids", () => {
  test("UUIDv7 of RFC 9562's example", () => {
    const random = Buffer.from("0000000000000cc318c4dc0c0c07398f", "hex");
    expect(uuidV7(0x017f22e279b0, random)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  test("UUIDv7 has version and variant, and holds its time", () => {
    fc.assert(
      fc.property(fc.nat(LAST_MS), sixteen, (ms, random) => {
        const id = uuidV7(ms, random);
        expect(id).toMatch(UUID_V7);
        expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(ms);
      }),
    );
  });

  test("a later UUIDv7 sorts after an earlier one, whatever the random bits", () => {
    fc.assert(
      fc.property(fc.nat(LAST_MS - 1), fc.integer({ min: 1, max: 1e12 }), sixteen, sixteen, (ms, later, a, b) => {
        const next = Math.min(ms + later, LAST_MS);
        expect(uuidV7(ms, a) < uuidV7(next, b)).toBe(true);
      }),
    );
  });

  test("the caller's random bytes are left as they were", () => {
    const random = new Uint8Array(16).fill(0xff);
    uuidV7(0, random);
    expect(random).toEqual(new Uint8Array(16).fill(0xff));
  });

  test.each<[IdKind, RegExp]>([
    ["session", UUID_V7],
    ["item", UUID_V7],
    ["home", UUID_V7],
    ["entry", /^[0-9a-f]{16}$/],
    ["holder", /^[0-9a-f]{16}$/],
    ["token", /^[A-Za-z0-9_-]{43}$/],
  ])("%s", (kind, shape) => {
    const world = realWorld(() => {});
    const ids = Array.from({ length: 500 }, () => world.newId(kind));
    for (const id of ids) expect(id).toMatch(shape);
    expect(new Set(ids).size).toBe(ids.length);
    expect(makeId(kind, 7, (count) => new Uint8Array(count))).toBe(makeId(kind, 7, (count) => new Uint8Array(count)));
  });
});

describe("time", () => {
  test("the monotonic clock does not go back, the wall clock is the platform's", () => {
    const world = realWorld(() => {});
    const [before, first, second, after] = [Date.now(), world.monotonicMs(), world.monotonicMs(), Date.now()];
    expect(second).toBeGreaterThanOrEqual(first);
    expect(world.nowMs()).toBeGreaterThanOrEqual(before);
    expect(before).toBeLessThanOrEqual(after);
  });

  test("sleep ends at once, with the reason, when its signal aborts", async () => {
    const world = realWorld(() => {});
    const reason = new Error("enough");
    const abort = new AbortController();
    const sleeping = world.sleep(3_600_000, abort.signal);
    abort.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(world.sleep(3_600_000, abort.signal)).rejects.toBe(reason);
  });

  test("sleep leaves no listener behind, neither way", async () => {
    const world = realWorld(() => {});
    const abort = new AbortController();
    await world.sleep(1, abort.signal);
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(0);
    const sleeping = world.sleep(3_600_000, abort.signal);
    abort.abort();
    await expect(sleeping).rejects.toBe(abort.signal.reason);
    expect(getEventListeners(abort.signal, "abort")).toHaveLength(0);
  });

  test("every calls until it is disposed", async () => {
    const world = realWorld(() => {});
    const counted = { times: 0 };
    const third = Promise.withResolvers<void>();
    const timer = world.every(1, () => {
      counted.times += 1;
      if (counted.times === 3) third.resolve();
    });
    await third.promise;
    timer[Symbol.dispose]();
    const then = counted.times;
    await world.sleep(10);
    expect(counted.times).toBe(then);
  });

  test("times beyond what a timer can hold do not come at once, and come in the end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const world = realWorld(() => {});
    const days = 60 * 86_400_000;
    const counted = { slept: 0, ticks: 0 };
    void world.sleep(days).then(() => {
      counted.slept += 1;
    });
    using _ticking = world.every(days, () => {
      counted.ticks += 1;
    });
    await vi.advanceTimersByTimeAsync(days - 1);
    expect(counted).toEqual({ slept: 0, ticks: 0 });
    await vi.advanceTimersByTimeAsync(1);
    expect(counted).toEqual({ slept: 1, ticks: 1 });
    await vi.advanceTimersByTimeAsync(days);
    expect(counted).toEqual({ slept: 1, ticks: 2 });
  });

  test("a long sleep ends when its signal aborts, also after its first stretch", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const abort = new AbortController();
    const sleeping = realWorld(() => {}).sleep(2 ** 33, abort.signal);
    await vi.advanceTimersByTimeAsync(2 ** 31);
    abort.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("sleep keeps the process alive, every does not", async () => {
    await using sleeper = startChild("timers", ["sleep"]);
    await using ticker = startChild("timers", ["every"]);
    expect(await sleeper.line()).toBe("slept");
    expect(await ticker.ended()).toBe(0);
  });
});

test("random is in [0, 1) and not always the same", () => {
  const world = realWorld(() => {});
  const drawn = Array.from({ length: 1000 }, () => world.random());
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
  expect(new Set(drawn).size).toBeGreaterThan(990);
});
