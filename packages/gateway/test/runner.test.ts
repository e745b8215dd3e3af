/** The runner over memory lanes: order, limits, faults, stopping. Nothing here waits for time to pass. */
import { realWorld, type World } from "@holdfast/base";
import { expect, onTestFinished, test, vi } from "vitest";
import { memoryLanes } from "../src/lane-stores/memory.ts";
import type { LaneItem, LaneStore } from "../src/lanes.ts";
import { silentLog } from "../src/log.ts";
import { type After, type Runner, startRunner } from "../src/runner.ts";

const world = realWorld();
const SETTLED: After = { kind: "settled" };

interface Made {
  readonly store: LaneStore;
  readonly runner: Runner;
  put(key: string, queue?: string): Promise<void>;
}

function make(
  work: (item: LaneItem, signal: AbortSignal, store: LaneStore) => Promise<After>,
  failed: (item: LaneItem, error: unknown) => Promise<After> = async () => ({ kind: "again", delayMs: 0 }),
  limit = 2,
): Made {
  const store = memoryLanes(world);
  const runner = startRunner({
    lane: "main",
    store,
    holder: "me",
    leaseMs: 30_000,
    limit,
    world,
    log: silentLog,
    stopReason: () => new Error("stop"),
    work: (item, signal) => work(item, signal, store),
    failed,
  });
  onTestFinished(() => runner.stop());
  return {
    store,
    runner,
    async put(key, queue = key) {
      await store.enqueue({ lane: "main", key, queue, body: {} }, world.nowMs());
      runner.wake();
    },
  };
}

async function settle(item: LaneItem, store: LaneStore): Promise<After> {
  await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: {} }], 0);
  return SETTLED;
}
const states = async (store: LaneStore) => (await store.list({ lane: "main" })).map(({ state }) => state);

test("items of a queue run in order, of different queues at once, never more than the limit", async () => {
  const order: string[] = [];
  let now = 0;
  let most = 0;
  const { store, put } = make(async (item, _signal, lanes) => {
    now += 1;
    most = Math.max(most, now);
    order.push(`${item.key} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${item.key} ends`);
    now -= 1;
    return settle(item, lanes);
  });
  for (const [key, queue] of [
    ["a1", "a"],
    ["a2", "a"],
    ["b1", "b"],
    ["c1", "c"],
    ["a3", "a"],
  ] as const)
    await put(key, queue);
  await vi.waitFor(async () => expect(await states(store)).toEqual(Array(5).fill("done")));
  expect(most).toBe(2);
  const ofA = order.filter((line) => line.startsWith("a"));
  expect(ofA).toEqual(["a1 begins", "a1 ends", "a2 begins", "a2 ends", "a3 begins", "a3 ends"]);
});

test("work that throws is asked about, and the runner goes on", async () => {
  let attempts = 0;
  const { store, put } = make(async (item, _signal, lanes) => {
    attempts += 1;
    if (attempts < 3) throw new Error("broken");
    return settle(item, lanes);
  });
  await put("k");
  await vi.waitFor(async () => expect(await states(store)).toEqual(["done"]));
  expect(attempts).toBe(3);
});

test("a store that fails for a moment does not end the runner", async () => {
  const { store, runner, put } = make((item, _signal, lanes) => settle(item, lanes));
  const claim = vi.spyOn(store, "claim").mockRejectedValueOnce(new Error("disk full"));
  await put("k");
  await vi.waitFor(() => expect(claim).toHaveBeenCalled());
  runner.wake();
  await vi.waitFor(async () => expect(await states(store)).toEqual(["done"]));
});

test("a stop aborts what runs and puts it back", async () => {
  const begun = Promise.withResolvers<void>();
  const { store, runner, put } = make(async (_item, signal) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(signal.reason).toMatchObject({ message: "stop" });
    return { kind: "again", delayMs: 0 };
  });
  await put("k");
  await begun.promise;
  await runner.stop();
  expect(await states(store)).toEqual(["queued"]);
});

test("an item whose lease seems to have run out, because the clock jumped, is not begun twice", async () => {
  const clock = { aheadMs: 0 };
  const jumping: World = { ...world, nowMs: () => world.nowMs() + clock.aheadMs };
  const store = memoryLanes(jumping);
  const go = Promise.withResolvers<void>();
  const begun: string[] = [];
  const runner = startRunner({
    lane: "main",
    store,
    holder: "me",
    leaseMs: 30_000,
    limit: 2,
    world: jumping,
    log: silentLog,
    stopReason: () => new Error("stop"),
    async work(item) {
      begun.push(item.key);
      if (item.key === "slow") await go.promise;
      return settle(item, store);
    },
    failed: async () => ({ kind: "again", delayMs: 0 }),
  });
  onTestFinished(() => runner.stop());
  const put = async (key: string) => {
    await store.enqueue({ lane: "main", key, queue: key, body: {} }, jumping.nowMs());
    runner.wake();
  };
  await put("slow");
  await vi.waitFor(() => expect(begun).toEqual(["slow"]));
  clock.aheadMs = 3_600_000;
  await put("second");
  runner.wake();
  await vi.waitFor(() => expect(begun).toContain("second"), { timeout: 8_000 });
  go.resolve();
  await vi.waitFor(async () => expect(await states(store)).toEqual(["done", "done"]));
  expect(begun).toEqual(["slow", "second"]);
});
