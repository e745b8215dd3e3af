/**
 * What a turn at work is told about its conversation's lane: the messages that are answered in it, too.
 *
 * Invariant: a message is in the lane until the turn that answers it has ended, so nothing that was taken in can be lost.
 */
import type { Arrived, Joining, TurnItem } from "@holdfast/agent";
import { messageOf } from "./bodies.ts";
import type { LaneItem, LaneStore } from "./lanes.ts";

export async function arrived(item: TurnItem, store: LaneStore): Promise<Arrived> {
  const waiting = await store.list({ lane: "main", queue: item.sessionKey, states: ["queued"] });
  const joined = waiting.filter((other) => other.joined === item.id).map(joining);
  return { stop: null, joined, steer: [], collect: [] };
}

function joining(item: LaneItem): Joining {
  return { id: item.id, message: messageOf(item), start: item.start };
}
