/**
 * What every lane store must do, as data: each case makes its own store and imports no test runner, so that anybody's
 * driver can be held to it.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { LaneItem, LaneStore, NewLaneItem } from "../lanes.ts";

export interface LaneCase {
  readonly group: string;
  readonly name: string;
  run(): Promise<void>;
}

const LEASE_MS = 30_000;

function message(key: string, queue = "a", text = key): NewLaneItem {
  return { lane: "main", key, queue, body: { text } };
}

function claim(store: LaneStore, nowMs: number, holder = "me"): Promise<LaneItem | undefined> {
  return store.claim({ lane: "main", holder, nowMs, leaseMs: LEASE_MS });
}

async function claimed(store: LaneStore, nowMs: number, holder = "me"): Promise<LaneItem> {
  const item = await claim(store, nowMs, holder);
  if (item === undefined) throw new Error("nothing to claim");
  return item;
}

const CASES: Readonly<Record<string, Readonly<Record<string, (store: LaneStore) => Promise<void>>>>> = {
  enqueue: {
    "a new item is queued, nothing charged": async (store) => {
      const { fresh, item } = await store.enqueue(message("k1"), 5);
      strictEqual(fresh, true);
      deepStrictEqual(item, {
        id: item.id,
        ...message("k1"),
        state: "queued",
        acceptedMs: 5,
        notBeforeMs: 5,
        claims: 0,
        attempts: 0,
        idleAttempts: 0,
        progress: 0,
        start: null,
        result: null,
      });
      deepStrictEqual(await store.get(item.id), item);
    },
    "a known key returns the item that is there and changes nothing": async (store) => {
      const first = await store.enqueue(message("k1", "a", "one"), 1);
      const again = await store.enqueue(message("k1", "b", "two"), 2);
      deepStrictEqual(again, { fresh: false, item: first.item });
      strictEqual((await store.list({ lane: "main" })).length, 1);
    },
    "a key that ended is still known": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      await store.settle(item.id, "me", "done", { entryId: "e1" }, 2);
      const again = await store.enqueue(message("k1"), 3);
      strictEqual(again.fresh, false);
      strictEqual(again.item.state, "done");
      deepStrictEqual(again.item.result, { entryId: "e1" });
    },
    "lanes do not share keys": async (store) => {
      await store.enqueue(message("k1"), 1);
      const other = await store.enqueue({ ...message("k1"), lane: "out" }, 1);
      strictEqual(other.fresh, true);
    },
    "text comes back as it went in": async (store) => {
      const text = "'; drop table items; -- \u0000 刚才第二项 🧷";
      const { item } = await store.enqueue(message("k'1", "q'", text), 1);
      deepStrictEqual((await store.get(item.id))?.body, { text });
    },
    "a reader cannot change what is kept": async (store) => {
      const { item } = await store.enqueue(message("k1"), 1);
      (item.body as { text: string }).text = "changed";
      deepStrictEqual((await store.get(item.id))?.body, { text: "k1" });
    },
  },
  claim: {
    "the oldest first; one at a time in a queue": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      await store.enqueue(message("k3", "b"), 1);
      strictEqual((await claimed(store, 1)).key, "k1");
      strictEqual((await claimed(store, 1)).key, "k3");
      strictEqual(await claim(store, 1), undefined);
    },
    "the next of a queue follows when the one before has ended": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      await store.settle(first.id, "me", "failed", {}, 2);
      strictEqual((await claimed(store, 2)).key, "k2");
    },
    "a delayed item keeps its place: later ones of its queue wait for it": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      strictEqual(await store.release(first.id, "me", 100), true);
      strictEqual(await claim(store, 99), undefined);
      const again = await claimed(store, 100);
      deepStrictEqual([again.key, again.claims, again.attempts], ["k1", 2, 0]);
    },
    "other lanes are not touched": async (store) => {
      await store.enqueue({ ...message("k1"), lane: "out" }, 1);
      strictEqual(await claim(store, 1), undefined);
    },
    "an expired lease is taken; the first holder is then told no": async (store) => {
      await store.enqueue(message("k1"), 1);
      const first = await claimed(store, 1, "one");
      strictEqual(await claim(store, LEASE_MS, "two"), undefined);
      strictEqual((await claimed(store, LEASE_MS + 1, "two")).id, first.id);
      strictEqual(await store.renew(first.id, "one", 99_999), false);
      strictEqual(await store.settle(first.id, "one", "done", {}, 1), false);
      strictEqual((await store.get(first.id))?.state, "claimed");
    },
    "a renewed lease holds": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      strictEqual(await store.renew(item.id, "me", 90_000), true);
      strictEqual(await claim(store, 89_999, "two"), undefined);
    },
  },
  work: {
    "what is noted stays through a release": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      const start = { sessionId: "s1", leaf: null };
      strictEqual(await store.note(item.id, "me", { start }), true);
      strictEqual(await store.note(item.id, "me", { attempts: 2, idleAttempts: 1, progress: 7 }), true);
      await store.release(item.id, "me", 1);
      const again = await claimed(store, 1);
      deepStrictEqual(
        [again.start, again.attempts, again.idleAttempts, again.progress, again.claims],
        [start, 2, 1, 7, 2],
      );
    },
    "nobody notes, releases or settles what is not theirs": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      deepStrictEqual(
        [
          await store.note(item.id, "other", { attempts: 9 }),
          await store.release(item.id, "other", 1),
          await store.settle(item.id, "other", "done", {}, 1),
          await store.renew("missing", "me", 1),
        ],
        [false, false, false, false],
      );
      deepStrictEqual(await store.get(item.id), item);
    },
    "an end is final": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      strictEqual(await store.settle(item.id, "me", "done", { text: "one" }, 2), true);
      strictEqual(await store.settle(item.id, "me", "failed", { text: "two" }, 3), false);
      deepStrictEqual((await store.get(item.id))?.result, { text: "one" });
      strictEqual(await claim(store, 999_999), undefined);
    },
    "taking over returns what others held, in place": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      await claimed(store, 1, "dead");
      strictEqual(await store.takeOver("me"), 1);
      strictEqual((await claimed(store, 1)).key, "k1");
      strictEqual(await store.takeOver("me"), 0);
    },
    "a clock that was set back blocks nothing": async (store) => {
      const [late, early] = [1_000_000_000, 5];
      for (const key of ["k1", "k2"]) await store.enqueue(message(key, key), late);
      const item = await claimed(store, late);
      await store.release(item.id, "me", late + 1_000);
      await claimed(store, late, "k2's");
      strictEqual((await claimed(store, early)).key, "k1");
      strictEqual((await claimed(store, early)).key, "k2");
      strictEqual(await claim(store, early), undefined);
    },
    "a spared holder keeps what it has until its lease ends": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key, key), 1);
      await claimed(store, 1, "alive");
      await claimed(store, 1, "dead");
      strictEqual(await store.takeOver("me", (holder) => holder === "alive"), 1);
      strictEqual((await claimed(store, 1)).key, "k2");
      strictEqual(await claim(store, 1), undefined);
    },
  },
  looking: {
    "list filters by queue and state, newest limited, oldest first": async (store) => {
      for (const [key, queue] of [
        ["k1", "a"],
        ["k2", "b"],
        ["k3", "a"],
        ["k4", "a"],
      ] as const)
        await store.enqueue(message(key, queue), 1);
      const item = await claimed(store, 1);
      await store.settle(item.id, "me", "done", {}, 2);
      const keys = async (query: Parameters<LaneStore["list"]>[0]) => (await store.list(query)).map(({ key }) => key);
      deepStrictEqual(await keys({ lane: "main", queue: "a", limit: 2 }), ["k3", "k4"]);
      deepStrictEqual(await keys({ lane: "main", states: ["queued"] }), ["k2", "k3", "k4"]);
      deepStrictEqual(await keys({ lane: "main", queue: "a", states: ["done", "failed"] }), ["k1"]);
      deepStrictEqual(await keys({ lane: "out" }), []);
    },
    "nextDue is the earliest time at which something may be claimed": async (store) => {
      strictEqual(await store.nextDue("main"), null);
      await store.enqueue(message("k1"), 50);
      strictEqual(await store.nextDue("main"), 50);
      const item = await claimed(store, 50);
      await store.enqueue(message("k2"), 51);
      strictEqual(await store.nextDue("main"), 50 + LEASE_MS);
      await store.settle(item.id, "me", "done", {}, 60);
      strictEqual(await store.nextDue("main"), 51);
    },
    "forgetting takes only what ended before": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key, key), 1);
      const item = await claimed(store, 1);
      await store.settle(item.id, "me", "done", {}, 10);
      strictEqual(await store.forget(10), 0);
      strictEqual(await store.forget(11), 1);
      strictEqual((await store.enqueue(message("k1"), 20)).fresh, true);
      strictEqual((await store.enqueue(message("k2"), 20)).fresh, false);
    },
  },
};

/** The suite for a store; `open` makes an empty one each time. */
export function laneCases(open: () => Promise<LaneStore>): readonly LaneCase[] {
  return Object.entries(CASES).flatMap(([group, cases]) =>
    Object.entries(cases).map(([name, check]) => ({
      group,
      name,
      async run() {
        const store = await open();
        try {
          await check(store);
        } finally {
          await store.close();
        }
      },
    })),
  );
}
