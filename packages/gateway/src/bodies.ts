/** What lane items carry, in and out of JSON: the only place that knows the shape of a body. */
import type { Address, ApprovalRequest, Decision, Message, TurnItem } from "@holdfast/agent";
import { canonical, type JsonObject, sha256 } from "@holdfast/base";
import type { Arrival, Outgoing } from "./channels.ts";
import type { LaneItem, NewLaneItem } from "./lanes.ts";
import type { QueueMode } from "./queue/plan.ts";
import type { ContextOrder } from "./queue/words.ts";
import type { WireItem } from "./wire/index.ts";

interface MainBody {
  readonly message: Message;
  readonly clientKey: string | null;
  /** How it meets a turn at work; left out: it waits for its own. */
  readonly mode?: QueueMode;
  /** An order to the gateway; no model sees it. */
  readonly control?: Control;
}
export type Control =
  | ContextOrder
  /** Whether a turn was at work, and how many waiting messages were dropped. */
  | { readonly kind: "stop"; readonly wasBusy: boolean; readonly dropped: number }
  /** `item`: the one that waits for it; null: no such request waits. */
  | {
      readonly kind: "decide";
      readonly approval: string | null;
      readonly item: string | null;
      readonly decision: Decision;
      readonly by: string;
    };

/** What a waiting item waits for. */
export interface WaitsFor {
  readonly approvals: readonly ApprovalRequest[];
  /** What its sender was told. */
  readonly text: string;
}
export const waitsFor = (item: LaneItem): WaitsFor | null =>
  item.state === "waiting" ? (item.result as unknown as WaitsFor) : null;
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

export function json(value: MainBody | Outgoing | Ending | WaitsFor): JsonObject {
  return value as unknown as JsonObject;
}

export function mainItem(
  { message, clientKey }: Arrival,
  sessionKey: string,
  { mode = "followup", dropped = [] }: { readonly mode?: QueueMode; readonly dropped?: readonly string[] } = {},
): NewLaneItem {
  const told = dropped.length === 0 ? message : { ...message, dropped };
  return { lane: "main", key: message.key, queue: sessionKey, body: json({ message: told, clientKey, mode }) };
}

/** The body with another text. */
export function amended(item: LaneItem, text: string): JsonObject {
  const body = mainBody(item);
  return json({ ...body, message: { ...body.message, text } });
}

export function controlItem({ message, clientKey }: Arrival, sessionKey: string, control: Control): NewLaneItem {
  return { lane: "main", key: message.key, queue: sessionKey, body: json({ message, clientKey, control }) };
}

/** Something to tell the sender that no entry says. `id`: the item it is about. */
export function notice(id: string, to: Address, text: string): NewLaneItem {
  return outItem({ reply: { to, text, entryId: id }, itemId: id });
}

export function endingJson({ text, code }: { readonly text: string; readonly code: string }): JsonObject {
  return json({ text, entryId: null, sessionId: null, code });
}

export const modeOf = (item: LaneItem): QueueMode => mainBody(item).mode ?? "followup";
export const controlOf = (item: LaneItem): Control | null => mainBody(item).control ?? null;
export const droppedOf = (item: LaneItem): readonly string[] => messageOf(item).dropped ?? [];

/** The key comes from the entry, the address and the part, so queueing a reply twice queues it once. */
export function outItem(outgoing: Outgoing): NewLaneItem {
  const { to, entryId } = outgoing.reply;
  const key = sha256(canonical({ entryId, to, part: outgoing.part ?? 0 }));
  const queue = [to.channel, to.account, to.chat, to.thread ?? ""].join(":");
  return { lane: "out", key, queue, body: json(outgoing) };
}

export function messageOf(item: LaneItem): Message {
  return mainBody(item).message;
}

export function turnItem(item: LaneItem): TurnItem {
  const { id, queue, start, attempts } = item;
  return { id, sessionKey: queue, message: messageOf(item), start, attempt: attempts + 1 };
}

function isLost({ state }: LaneItem): boolean {
  return state === "failed" || state === "dropped";
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
    ...(item.state === "waiting" ? { asks: waitsFor(item)?.text ?? "" } : {}),
    failure: isLost(item) ? (endingOf(item)?.text ?? null) : null,
    failureCode: isLost(item) ? (endingOf(item)?.code ?? null) : null,
  };
}
