/**
 * One message from this machine: accepted, and answered where the sender waits.
 * Used by HTTP, the OpenAI door and programs that hold the gateway themselves, so that all keep the same promises.
 */
import type { ErrorDetails } from "@holdfast/base";
import type { Receipt } from "./accept.ts";
import { endingOf, messageOf, waitsFor, wireItem } from "./bodies.ts";
import type { WebArrival } from "./channels/web.ts";
import type { GatewayErrorCode } from "./errors.ts";
import type { LaneItem, LaneStore } from "./lanes.ts";
import type { Waiting } from "./live/waiting.ts";
import type { WireAnswer, WireItem } from "./wire/index.ts";

export interface PostRequest extends WebArrival {
  /** Wait for the answer. */
  readonly wait: boolean;
  /** Ends the waiting, not the work. */
  readonly signal: AbortSignal;
  /** Told once which item the message is, before the waiting begins. Must not throw. */
  readonly accepted?: (itemId: string) => void;
}

export type Posted =
  | { readonly kind: "accepted"; readonly item: WireItem }
  | { readonly kind: "answered"; readonly answer: WireAnswer; readonly itemId: string }
  | { readonly kind: "refused"; readonly code: GatewayErrorCode; readonly details: ErrorDetails };

export interface Post {
  readonly store: LaneStore;
  readonly waiting: Waiting;
  accept(arrival: WebArrival): Promise<Receipt>;
}

/**
 * The same client key and text give the same item and answer. With `wait`, a repeated key that is still at work is
 * refused with `in_flight`. Rejects with the signal's reason when the waiting is ended; the item goes on.
 */
export async function post(request: PostRequest, { store, waiting, accept }: Post): Promise<Posted> {
  const receipt = await accept(request);
  if (receipt.kind === "refused") return receipt;
  if (receipt.kind === "too_late") return { kind: "refused", code: "item_taken", details: {} };
  const { item } = receipt;
  if (receipt.kind === "duplicate") {
    if (messageOf(item).text !== request.text) return { kind: "refused", code: "idempotency_mismatch", details: {} };
    if (request.wait && !rests(item)) return { kind: "refused", code: "in_flight", details: { item: item.id } };
  }
  request.accepted?.(item.id);
  if (!request.wait) return { kind: "accepted", item: wireItem(item) };
  return answerOf(rests(item) ? item : await settled(item, store, { waiting, signal: request.signal }));
}

function ended(item: LaneItem): boolean {
  return item.state === "done" || item.state === "failed" || item.state === "dropped";
}

interface Patience {
  readonly waiting: Waiting;
  readonly signal: AbortSignal;
}

/** Ended, or nothing goes on before a person has decided: whoever asked is told so. */
function rests(item: LaneItem): boolean {
  return ended(item) || item.state === "waiting";
}

/** The item once it has ended, or rests. */
async function settled(item: LaneItem, store: LaneStore, { waiting, signal }: Patience): Promise<LaneItem> {
  for (;;) {
    const notice = waiting.next(item.id, signal);
    const now = await store.get(item.id);
    if (now !== undefined && rests(now)) {
      waiting.notify(item.id);
      return now;
    }
    await notice;
  }
}

function answerOf(item: LaneItem): Posted {
  const asked = waitsFor(item);
  if (asked !== null) {
    const answer = { answer: asked.text, session: item.queue, sessionId: null, entryId: null, durable: true };
    return { kind: "answered", answer, itemId: item.id };
  }
  const ending = endingOf(item);
  if (item.state !== "done" || ending === null)
    return {
      kind: "refused",
      code: "turn_failed",
      details: { text: ending?.text ?? "", item: item.id, ...(ending?.code === undefined ? {} : { why: ending.code }) },
    };
  const { text, sessionId, entryId } = ending;
  const answer = { answer: text, session: item.queue, sessionId, entryId, durable: true };
  return { kind: "answered", answer, itemId: item.id };
}
