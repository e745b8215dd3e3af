/** Sending: settled with the platform's id, tried again after a failure, given up visibly at the limit. */
import { LIMITS, realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { outItem } from "../src/bodies.ts";
import { type Outgoing, SendFailure } from "../src/channels.ts";
import { deliver, undelivered, type Way } from "../src/deliver.ts";
import { memoryLanes } from "../src/lane-stores/memory.ts";
import { silentLog } from "../src/log.ts";

const to = { channel: "web", account: "local", chat: "c", thread: null };
const outgoing: Outgoing = { reply: { to, text: "hello", entryId: "e1" }, itemId: "i1" };

async function made(channel = "web", dedupeMs = Number.POSITIVE_INFINITY, more: Partial<Way> = {}) {
  const world = realWorld();
  const store = memoryLanes(world);
  const sent: Outgoing[] = [];
  const send = async (out: Outgoing) => {
    sent.push(out);
    return { platformId: `p-${out.reply.entryId}` };
  };
  const delivery = {
    channels: new Map([[channel, { send, dedupeMs, ...more }]]),
    store,
    holder: "me",
    world,
    log: silentLog,
  };
  const { item } = await store.enqueue(outItem(outgoing), 0);
  const claim = async () => (await store.claim({ lane: "out", holder: "me", nowMs: 1e15, leaseMs: 1 }))!;
  return { store, delivery, sent, item, claim };
}

test("a reply is handed over and settled with the platform's id", async () => {
  const { store, delivery, sent, item, claim } = await made();
  expect(await deliver(await claim(), delivery)).toEqual({ kind: "settled" });
  expect(sent).toEqual([outgoing]);
  expect(await store.get(item.id)).toMatchObject({ state: "done", result: { platformId: "p-e1" } });
});

test("the same reply to the same address is queued once; another address is another", async () => {
  const { store } = await made();
  expect((await store.enqueue(outItem(outgoing), 1)).fresh).toBe(false);
  const elsewhere = { ...outgoing, reply: { ...outgoing.reply, to: { ...to, chat: "d" } } };
  expect((await store.enqueue(outItem(elsewhere), 1)).fresh).toBe(true);
});

test("a failed send is tried again with growing delays, then kept as failed", async () => {
  const { store, delivery, item, claim } = await made();
  const delays: number[] = [];
  for (let attempt = 1; attempt <= LIMITS.attemptsMax; attempt++) {
    const after = await undelivered(await claim(), delivery, new Error("the platform is down"));
    if (after.kind === "again") {
      delays.push(after.delayMs);
      await store.commit("me", [{ kind: "release", id: item.id, notBeforeMs: 0 }], 0);
    }
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(await store.get(item.id)).toMatchObject({ state: "failed", result: { why: "the platform is down" } });
});

test("a reply to a channel that is not configured is kept as failed", async () => {
  const { store, delivery, item, claim } = await made("other");
  expect(await deliver(await claim(), delivery)).toEqual({ kind: "settled" });
  expect(await store.get(item.id)).toMatchObject({ state: "failed" });
});

/** Claims and sends, and dies before the send is settled. */
async function cutOff(dedupeMs: number, more: Partial<Way> = {}) {
  const on = await made("web", dedupeMs, more);
  const world = {
    ...on.delivery.world,
    at(point: string) {
      if (point === "deliver:after-send") throw new Error("killed");
    },
  };
  await deliver(await on.claim(), { ...on.delivery, world }).catch(() => undefined);
  await on.store.takeOver("nobody");
  return on;
}

test("B111 a send that a kill cut off is not made again at each start: it is held, and said", async () => {
  const { claim, delivery, sent, store, item } = await cutOff(0);
  for (let start = 0; start < 3; start++) {
    const again = await store.claim({ lane: "out", holder: "me", nowMs: 1e15, leaseMs: 1 });
    if (again !== undefined) await deliver(again, delivery);
  }
  expect(sent).toHaveLength(1);
  expect(await store.get(item.id)).toMatchObject({
    state: "failed",
    result: { why: expect.stringContaining("may have been sent") },
  });
  expect(claim).toBeDefined();
});

test("within the platform's own window it is sent again under the same key; by policy also later, and marked", async () => {
  const inside = await cutOff(60_000);
  await deliver(await inside.claim(), inside.delivery);
  expect(inside.sent).toHaveLength(2);
  expect((await inside.store.get(inside.item.id))?.result).toEqual({ platformId: "p-e1" });
  const later = await cutOff(0, { uncertain: "resend" });
  await deliver(await later.claim(), later.delivery);
  expect((await later.store.get(later.item.id))?.result).toEqual({ platformId: "p-e1", again: true });
});

test("after a clock that was set back nobody knows how old a send is: it is held", async () => {
  for (const dedupeMs of [0, 60_000]) {
    const { claim, delivery, sent, store, item } = await cutOff(dedupeMs);
    const world = { ...delivery.world, nowMs: () => delivery.world.nowMs() - 3_600_000 };
    await deliver(await claim(), { ...delivery, world });
    expect(sent).toHaveLength(1);
    expect(await store.get(item.id)).toMatchObject({ state: "failed" });
  }
});

test("what certainly did not go out is simply sent again, not before the platform allows", async () => {
  const on = await made("web", 0);
  const limited = {
    ...on.delivery,
    channels: new Map([
      ["web", { dedupeMs: 0, send: () => Promise.reject(new SendFailure("not_sent", "429", 70_000)) }],
    ]),
  };
  const item = await on.claim();
  const error: unknown = await deliver(item, limited).catch((thrown: unknown) => thrown);
  expect(await undelivered((await on.store.get(item.id))!, limited, error)).toEqual({ kind: "again", delayMs: 70_000 });
  await on.store.commit("me", [{ kind: "release", id: item.id, notBeforeMs: 0 }], 0);
  await deliver(await on.claim(), on.delivery);
  expect((await on.store.get(item.id))?.state).toBe("done");
});

test("B113 what can never be delivered fails at once and holds back nobody else", async () => {
  const { store, delivery, item, claim } = await made();
  expect(await undelivered(await claim(), delivery, new SendFailure("permanent", "chat not found"))).toEqual({
    kind: "settled",
  });
  expect(await store.get(item.id)).toMatchObject({ state: "failed", result: { why: "chat not found" } });
});
