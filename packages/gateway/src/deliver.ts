/**
 * Segment 3 of 3: a queued reply leaves.
 *
 * [out] → send → settled
 * Invariant: that a send begins is durable before it begins. So a send that a kill cut off is known to be uncertain, and is
 * made again only where the platform would recognise it, or where its policy says so.
 */
import { type JsonObject, LIMITS, messageOf, type World } from "@holdfast/base";
import { outgoingOf } from "./bodies.ts";
import { backoffMs } from "./budget.ts";
import { type Channel, SendFailure } from "./channels.ts";
import type { Change, LaneItem, LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";
import type { After } from "./runner.ts";

export type Way = Pick<Channel, "send" | "dedupeMs" | "uncertain">;

export interface Delivery {
  readonly channels: ReadonlyMap<string, Way>;
  readonly store: LaneStore;
  readonly holder: string;
  readonly world: World;
  readonly log: Log;
}

const UNCERTAIN =
  "It may have been sent: the gateway was cut off in the middle. Look there, then send it again or not.";

/** `progress` of an outbound item: when its send began, 0 when none is under way. */
export async function deliver(item: LaneItem, delivery: Delivery): Promise<After> {
  const { channels, store, holder, world } = delivery;
  const outgoing = outgoingOf(item);
  const channel = channels.get(outgoing.reply.to.channel);
  if (channel === undefined) return undeliverable(item, delivery, "no such channel is configured");
  if (isUncertain(item, channel, world.nowMs()) && channel.uncertain !== "resend")
    return undeliverable(item, delivery, UNCERTAIN);
  const begins = { progress: item.progress === 0 ? world.nowMs() : item.progress };
  if (channel.dedupeMs !== Number.POSITIVE_INFINITY && !(await note(item, delivery, begins)))
    return { kind: "settled" };
  world.at("deliver:before-send");
  const { platformId } = await channel.send(outgoing);
  world.at("deliver:after-send");
  const result: JsonObject = isUncertain(item, channel, world.nowMs()) ? { platformId, again: true } : { platformId };
  await store.commit(holder, [{ kind: "settle", id: item.id, state: "done", result }], world.nowMs());
  return { kind: "settled" };
}

/**
 * A send began in an earlier life, or ended in an error that tells nothing, and the platform does not recognise it any more.
 * After a clock that was set back nobody knows how long ago that was.
 */
function isUncertain({ progress }: LaneItem, { dedupeMs }: Way, nowMs: number): boolean {
  const isWithin = dedupeMs === Number.POSITIVE_INFINITY || (nowMs >= progress && nowMs - progress < dedupeMs);
  return progress > 0 && !isWithin;
}

function note(item: LaneItem, { store, holder, world }: Delivery, patch: Pick<LaneItem, "progress">): Promise<boolean> {
  return store.commit(holder, [{ kind: "note", id: item.id, patch }], world.nowMs());
}

/** A send that failed: tried again later, up to the limit of attempts, then kept as failed. */
export async function undelivered(item: LaneItem, delivery: Delivery, error: unknown): Promise<After> {
  const why = messageOf(error);
  const attempts = item.attempts + 1;
  delivery.log.warn("a reply could not be sent", { item: item.id, attempts, why });
  const known = error instanceof SendFailure ? error : null;
  if (known?.kind === "permanent" || attempts >= LIMITS.attemptsMax) return undeliverable(item, delivery, why);
  const { store, holder, world } = delivery;
  const patch = known === null ? { attempts } : { attempts, progress: 0 };
  await store.commit(holder, [{ kind: "note", id: item.id, patch }], world.nowMs());
  return { kind: "again", delayMs: Math.max(backoffMs(attempts), known?.retryAfterMs ?? 0) };
}

async function undeliverable(item: LaneItem, delivery: Delivery, why: string): Promise<After> {
  const { store, holder, world, log } = delivery;
  log.error("a reply is given up; it is in the transcript", { item: item.id, why });
  const end: Change = { kind: "settle", id: item.id, state: "failed", result: { why } };
  await store.commit(holder, [end], world.nowMs());
  return { kind: "settled" };
}
