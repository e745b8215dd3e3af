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
        joined: null,
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
      await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: { entryId: "e1" } }], 2);
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
      await store.commit("me", [{ kind: "settle", id: first.id, state: "failed", result: {} }], 2);
      strictEqual((await claimed(store, 2)).key, "k2");
    },
    "a delayed item keeps its place: later ones of its queue wait for it": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      strictEqual(await store.commit("me", [{ kind: "release", id: first.id, notBeforeMs: 100 }], 0), true);
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
      strictEqual(await store.commit("one", [{ kind: "settle", id: first.id, state: "done", result: {} }], 1), false);
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
      strictEqual(await store.commit("me", [{ kind: "note", id: item.id, patch: { start } }], 0), true);
      strictEqual(
        await store.commit(
          "me",
          [{ kind: "note", id: item.id, patch: { attempts: 2, idleAttempts: 1, progress: 7 } }],
          0,
        ),
        true,
      );
      await store.commit("me", [{ kind: "release", id: item.id, notBeforeMs: 1 }], 0);
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
          await store.commit("other", [{ kind: "note", id: item.id, patch: { attempts: 9 } }], 0),
          await store.commit("other", [{ kind: "release", id: item.id, notBeforeMs: 1 }], 0),
          await store.commit("other", [{ kind: "settle", id: item.id, state: "done", result: {} }], 1),
          await store.renew("missing", "me", 1),
        ],
        [false, false, false, false],
      );
      deepStrictEqual(await store.get(item.id), item);
    },
    "an end is final": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      strictEqual(
        await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: { text: "one" } }], 2),
        true,
      );
      strictEqual(
        await store.commit("me", [{ kind: "settle", id: item.id, state: "failed", result: { text: "two" } }], 3),
        false,
      );
      deepStrictEqual((await store.get(item.id))?.result, { text: "one" });
      strictEqual(await claim(store, 999_999), undefined);
    },
    "a commit is all or nothing": async (store) => {
      await store.enqueue(message("k1"), 1);
      const item = await claimed(store, 1);
      const reply: NewLaneItem = { lane: "out", key: "r1", queue: "here", body: { text: "hello" } };
      const end = { kind: "settle", id: item.id, state: "done", result: {} } as const;
      strictEqual(await store.commit("other", [{ kind: "enqueue", item: reply }, end], 2), false);
      strictEqual((await store.list({ lane: "out" })).length, 0);
      strictEqual(await store.commit("me", [{ kind: "enqueue", item: reply }, end], 2), true);
      strictEqual((await store.list({ lane: "out" })).length, 1);
      strictEqual(await store.commit("me", [{ kind: "enqueue", item: reply }], 3), true);
      strictEqual((await store.list({ lane: "out" })).length, 1);
    },
    "a parked item lets others of its queue pass; woken it is the first again": async (store) => {
      for (const key of ["k1", "k2", "k3"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      strictEqual(await store.commit("me", [{ kind: "park", id: first.id, result: { why: "yes?" } }], 2), true);
      const second = await claimed(store, 2);
      strictEqual(second.key, "k2");
      strictEqual(await store.commit("anyone", [{ kind: "wake", id: first.id }], 3), true);
      strictEqual(await store.commit("anyone", [{ kind: "wake", id: first.id }], 3), false);
      strictEqual(await claim(store, 3), undefined);
      strictEqual(await store.nextDue("main"), 2 + LEASE_MS);
      await store.commit("me", [{ kind: "settle", id: second.id, state: "done", result: {} }], 4);
      strictEqual((await claimed(store, 4)).key, "k1");
    },
    "a joined item waits for its turn's end and may be settled with it": async (store) => {
      const items = [];
      for (const key of ["k1", "k2", "k3"]) items.push((await store.enqueue(message(key), 1)).item);
      const [, second, third] = items as [LaneItem, LaneItem, LaneItem];
      const first = await claimed(store, 1);
      const start = { sessionId: "s", leaf: "l" };
      const join = (id: string) => ({ kind: "join", id, into: first.id, start }) as const;
      strictEqual(await store.commit("other", [join(second.id)], 2), false);
      strictEqual(await store.commit("me", [join(second.id), join(third.id)], 2), true);
      deepStrictEqual([(await store.get(second.id))?.joined, (await store.get(second.id))?.start], [first.id, start]);
      await store.commit("me", [{ kind: "park", id: first.id, result: { why: "yes?" } }], 3);
      strictEqual(await claim(store, 3), undefined);
      await store.commit("me", [{ kind: "wake", id: first.id }], 4);
      strictEqual((await claimed(store, 4)).id, first.id);
      const ends = [
        { kind: "settle", id: first.id, state: "done", result: {} },
        { kind: "settleJoined", id: second.id, state: "done", result: { text: "both" } },
      ] as const;
      strictEqual(await store.commit("me", ends.toReversed(), 5), true);
      deepStrictEqual((await store.get(second.id))?.result, { text: "both" });
      const left = await claimed(store, 6);
      deepStrictEqual([left.key, left.start], ["k3", start]);
    },
    "only what nobody has begun is dropped or amended": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      const [, second] = await store.list({ lane: "main" });
      const change = (id: string) => [{ kind: "amend", id, body: { text: "new" } }] as const;
      strictEqual(await store.commit("me", change(first.id), 2), false);
      strictEqual(await store.commit("me", change(second!.id), 2), true);
      deepStrictEqual((await store.get(second!.id))?.body, { text: "new" });
      strictEqual(await store.commit("me", [{ kind: "drop", id: first.id, result: {} }], 2), false);
      strictEqual(await store.commit("me", [{ kind: "drop", id: second!.id, result: { why: "full" } }], 2), true);
      const gone = await store.get(second!.id);
      deepStrictEqual([gone?.state, gone?.result], ["dropped", { why: "full" }]);
      strictEqual((await store.enqueue(message("k2"), 3)).fresh, false);
    },
    "what nobody has begun is put off, and never brought forward": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key, key), 1);
      const first = await claimed(store, 1);
      const [, second] = await store.list({ lane: "main" });
      const delay = (id: string, notBeforeMs: number) => [{ kind: "delay", id, notBeforeMs }] as const;
      strictEqual(await store.commit("me", delay(first.id, 9), 2), false);
      strictEqual(await store.commit("me", delay(second!.id, 9), 2), true);
      strictEqual(await store.commit("me", delay(second!.id, 5), 2), false);
      strictEqual(await claim(store, 8), undefined);
      strictEqual((await claimed(store, 9)).key, "k2");
    },
    "what comes with a new item happens with it, as far as it can": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key), 1);
      const first = await claimed(store, 1);
      const [, second] = await store.list({ lane: "main" });
      const drop = (id: string) => ({ kind: "drop", id, result: { why: "stop" } }) as const;
      const stop = { ...message("stop"), notBeforeMs: 7 };
      strictEqual((await store.enqueue(stop, 2, [drop(first.id), drop(second!.id)])).fresh, true);
      const states = (await store.list({ lane: "main" })).map(({ state }) => state);
      deepStrictEqual(states, ["claimed", "dropped", "queued"]);
      await store.commit("me", [{ kind: "settle", id: first.id, state: "done", result: {} }], 3);
      strictEqual(await claim(store, 6), undefined);
      strictEqual((await claimed(store, 7)).key, "stop");
      const { item } = await store.enqueue(message("k3"), 8);
      strictEqual((await store.enqueue(stop, 9, [drop(item.id)])).fresh, false);
      strictEqual((await store.get(item.id))?.state, "queued");
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
      await store.commit("me", [{ kind: "release", id: item.id, notBeforeMs: late + 1_000 }], 0);
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
      await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: {} }], 2);
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
      await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: {} }], 60);
      strictEqual(await store.nextDue("main"), 51);
    },
    "forgetting takes only what ended before": async (store) => {
      for (const key of ["k1", "k2"]) await store.enqueue(message(key, key), 1);
      const item = await claimed(store, 1);
      await store.commit("me", [{ kind: "settle", id: item.id, state: "done", result: {} }], 10);
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
