/** What lane items carry, in and out of JSON: the only place that knows the shape of a body. */
import type { Message, TurnItem } from "@holdfast/agent";
import { canonical, type JsonObject, sha256 } from "@holdfast/base";
import type { Arrival, Outgoing } from "./channels.ts";
import type { LaneItem, NewLaneItem } from "./lanes.ts";
import type { WireItem } from "./wire/index.ts";

interface MainBody {
  readonly message: Message;
  readonly clientKey: string | null;
}
/** How an item ended: `text` is the answer, or what the user was told instead. */
export interface Ending {
  readonly text: string;
  readonly entryId: string | null;
  readonly sessionId: string | null;
  /** Why it failed, for clients that have words of their own. */
  readonly code?: string;
}

// Bodies are written by this file only, so reading one back is no guess.
const mainBody = (item: LaneItem) => item.body as unknown as MainBody;
export const outgoingOf = (item: LaneItem): Outgoing => item.body as unknown as Outgoing;
export const endingOf = (item: LaneItem): Ending | null => item.result as unknown as Ending | null;

export function json(value: MainBody | Outgoing | Ending): JsonObject {
  return value as unknown as JsonObject;
}

export function mainItem(arrival: Arrival, sessionKey: string): NewLaneItem {
  const { message, clientKey } = arrival;
  return { lane: "main", key: message.key, queue: sessionKey, body: json({ message, clientKey }) };
}

/** The key comes from the entry, the address and the part, so queueing a reply twice queues it once. */
export function outItem({ reply, itemId }: Outgoing): NewLaneItem {
  const { to, entryId } = reply;
  const key = sha256(canonical({ entryId, to, part: 0 }));
  const queue = [to.channel, to.account, to.chat, to.thread ?? ""].join(":");
  return { lane: "out", key, queue, body: json({ reply, itemId }) };
}

export function messageOf(item: LaneItem): Message {
  return mainBody(item).message;
}

export function turnItem(item: LaneItem): TurnItem {
  const { id, queue, start, attempts } = item;
  return { id, sessionKey: queue, message: messageOf(item), start, attempt: attempts + 1 };
}

export function wireItem(item: LaneItem): WireItem {
  const { message, clientKey } = mainBody(item);
  return {
    id: item.id,
    clientKey,
    text: message.text,
    state: item.state === "claimed" ? "running" : item.state,
    acceptedAt: item.acceptedMs,
    attempt: Math.max(1, item.attempts),
    failure: item.state === "failed" ? (endingOf(item)?.text ?? null) : null,
    failureCode: item.state === "failed" ? (endingOf(item)?.code ?? null) : null,
  };
}
