/**
 * What a life does once it has its parts: takes over, lets clients send, works until nothing is due, and lets the person answer
 * what waits for an answer.
 *
 * Invariant: an item whose work failed is treated as runner.ts of the gateway treats it; nothing else decides what comes next.
 */
import { type Agent, type ApprovalRequest, decide } from "@holdfast/agent";
import {
  type createTurns,
  type Delivery,
  deliver,
  type LaneItem,
  type LaneStore,
  type outgoingOf,
  silentLog,
  undelivered,
} from "@holdfast/gateway/internal";
import type { SimProcess } from "../disk/process.ts";
import { KEY, type Message, type Story } from "./story.ts";
import type { World } from "./outside.ts";

const LEASE_MS = 30_000;
const CLAIMS_MAX = 200;

export interface Life {
  readonly story: Story;
  readonly store: LaneStore;
  readonly world: Pick<World, "tell" | "send"> & { readonly now: Pick<World["now"], "told"> };
  readonly process: Pick<SimProcess, "world" | "isDead">;
  readonly holder: string;
  readonly agent: Agent;
  readonly turns: ReturnType<typeof createTurns>;
  send(message: Message): Promise<void>;
}

export async function work(life: Life): Promise<void> {
  const { story, store, process, turns, holder } = life;
  await store.takeOver(holder);
  await sendAll(story.messages, life);
  const delivery = deliveryOf(life);
  for (let claims = 0; claims < CLAIMS_MAX; claims++) {
    if (await workOnce(life, "main", turns.work, turns.failed)) continue;
    const sending = (item: LaneItem) => deliver(item, delivery);
    if (await workOnce(life, "out", sending, (item, error) => undelivered(item, delivery, error))) continue;
    if (await answerApproval(life)) continue;
    if (!(await sleepUntilDue(store, process))) return;
  }
  throw new Error("the life does not end");
}

/** Clients send until they are told; a platform that delivers again does so whatever it was told. */
export async function sendAll(
  messages: readonly Message[],
  { story, world, send }: Pick<Life, "story" | "world" | "send">,
) {
  for (const message of messages) {
    const isKnown = world.now.told.includes(message.key);
    if (!isKnown || story.redelivers === true) await send(message);
    if (!isKnown && story.redelivers === true) await send(message);
  }
}

function deliveryOf({ story, store, world, process, holder }: Life): Delivery {
  const { dedupeMs, uncertain } = story.platform ?? { dedupeMs: 0 };
  const send = async (outgoing: ReturnType<typeof outgoingOf>) => {
    const { to, text, entryId } = outgoing.reply;
    await world.send({ key: `${entryId}:${to.chat}:${outgoing.part ?? 0}`, text }, dedupeMs > 0);
    return { platformId: entryId };
  };
  const channels = new Map([["sim", { send, dedupeMs, ...(uncertain && { uncertain }) }]]);
  return { channels, store, holder, world: process.world, log: silentLog };
}

type After = { readonly kind: "settled" } | { readonly kind: "again"; readonly delayMs: number };

async function workOnce(
  { store, holder, process }: Life,
  lane: "main" | "out",
  doing: (item: LaneItem, signal: AbortSignal) => Promise<After>,
  failed: (item: LaneItem, error: unknown) => Promise<After>,
): Promise<boolean> {
  const nowMs = process.world.nowMs();
  const item = await store.claim({ lane, holder, nowMs, leaseMs: LEASE_MS });
  if (item === undefined) return false;
  try {
    const after = await doing(item, new AbortController().signal).catch((error: unknown) => failed(item, error));
    if (after.kind === "again") {
      const notBeforeMs = process.world.nowMs() + after.delayMs;
      await store.commit(holder, [{ kind: "release", id: item.id, notBeforeMs }], process.world.nowMs());
    }
  } catch (error) {
    // The store itself failed, as runner.ts has it: the claim runs out and the item is taken again.
    if (process.isDead) throw error;
  }
  return true;
}

/** The person answers what waits, once. */
async function answerApproval(life: Life): Promise<boolean> {
  const { story, store, agent, process, world } = life;
  const [item] = await store.list({ lane: "main", states: ["waiting"] });
  if (item === undefined || story.decision === undefined) return false;
  const first = (story.whileWaiting ?? []).filter(({ key }) => !world.now.told.includes(key));
  if (first.length > 0) {
    await sendAll(first, life);
    return true;
  }
  if (story.decidesAfterMs !== undefined) await process.world.sleep(story.decidesAfterMs);
  const { approvals } = item.result as unknown as { readonly approvals: readonly ApprovalRequest[] };
  await using session = await agent.sessions.open(KEY);
  for (const { id, summary } of approvals) {
    const decision = typeof story.decision === "string" ? story.decision : story.decision(summary);
    await decide(session, { approval: id, decision, by: "owner", nowMs: process.world.nowMs() });
  }
  return store.commit("", [{ kind: "wake", id: item.id }], process.world.nowMs());
}

async function sleepUntilDue(store: LaneStore, { world }: Life["process"]): Promise<boolean> {
  const dues = (await Promise.all([store.nextDue("main"), store.nextDue("out")])).filter((due) => due !== null);
  if (dues.length === 0) return false;
  await world.sleep(Math.max(1, Math.min(...dues) - world.nowMs()));
  return true;
}
