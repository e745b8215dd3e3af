/** Sending: settled with the platform's id, tried again after a failure, given up visibly at the limit. */
import { LIMITS, realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { outItem } from "../src/bodies.ts";
import type { Outgoing } from "../src/channels.ts";
import { deliver, undelivered } from "../src/deliver.ts";
import { memoryLanes } from "../src/lane-stores/memory.ts";
import { silentLog } from "../src/log.ts";

const to = { channel: "web", account: "local", chat: "c", thread: null };
const outgoing: Outgoing = { reply: { to, text: "hello", entryId: "e1" }, itemId: "i1" };

async function made(channel = "web") {
  const world = realWorld();
  const store = memoryLanes(world);
  const sent: Outgoing[] = [];
  const send = async (out: Outgoing) => {
    sent.push(out);
    return { platformId: `p-${out.reply.entryId}` };
  };
  const delivery = { channels: new Map([[channel, { send }]]), store, holder: "me", world, log: silentLog };
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
    const after = await undelivered(await claim(), delivery, "the platform is down");
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
