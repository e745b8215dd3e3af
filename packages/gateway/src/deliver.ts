/**
 * Segment 3 of 3: a queued reply reaches its platform.
 *
 * [out lane] → send → done
 * Invariant: the item is settled after the platform took the reply, with the platform's id; a crash in between sends it
 * again under the same entry id, which a channel with a key of its own recognises.
 */
import { LIMITS, type World } from "@holdfast/base";
import { outgoingOf } from "./bodies.ts";
import { backoffMs } from "./budget.ts";
import type { Channel } from "./channels.ts";
import type { LaneItem, LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";
import type { After } from "./runner.ts";

export interface Delivery {
  readonly channels: ReadonlyMap<string, Pick<Channel, "send">>;
  readonly store: LaneStore;
  readonly holder: string;
  readonly world: World;
  readonly log: Log;
}

export async function deliver(item: LaneItem, delivery: Delivery): Promise<After> {
  const { channels, store, holder, world } = delivery;
  const outgoing = outgoingOf(item);
  const channel = channels.get(outgoing.reply.to.channel);
  if (channel === undefined) return undeliverable(item, delivery, "no such channel is configured");
  world.at("deliver:before-send");
  const { platformId } = await channel.send(outgoing);
  world.at("deliver:after-send");
  await store.commit(holder, [{ kind: "settle", id: item.id, state: "done", result: { platformId } }], world.nowMs());
  return { kind: "settled" };
}

/** A send that failed: tried again later, up to the limit of attempts, then kept as failed. */
export async function undelivered(item: LaneItem, delivery: Delivery, why: string): Promise<After> {
  const attempts = item.attempts + 1;
  delivery.log.warn("a reply could not be sent", { item: item.id, attempts, why });
  if (attempts >= LIMITS.attemptsMax) return undeliverable(item, delivery, why);
  const { store, holder, world } = delivery;
  await store.commit(holder, [{ kind: "note", id: item.id, patch: { attempts } }], world.nowMs());
  return { kind: "again", delayMs: backoffMs(attempts) };
}

async function undeliverable(item: LaneItem, delivery: Delivery, why: string): Promise<After> {
  const { store, holder, world, log } = delivery;
  log.error("a reply is given up; it is in the transcript", { item: item.id, why });
  await store.commit(holder, [{ kind: "settle", id: item.id, state: "failed", result: { why } }], world.nowMs());
  return { kind: "settled" };
}
