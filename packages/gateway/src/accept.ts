/**
 * Segment 1 of 3: an arrival becomes a durable lane item.
 *
 * arrive → route → [lane]
 * Invariant: the item is durable before a receipt exists, so whatever the sender is told was received survives a kill.
 */
import type { Arrival, Channel } from "./channels.ts";
import type { LaneItem } from "./lanes.ts";
import type { Refusal, Route } from "./routes.ts";

export type Receipt =
  | { readonly kind: "accepted"; readonly item: LaneItem }
  /** The key was there already: the same item, whatever became of it. */
  | { readonly kind: "duplicate"; readonly item: LaneItem }
  /** Changed or taken back before anybody had begun it. */
  | { readonly kind: "revised"; readonly item: LaneItem }
  /** Of a message that was begun, has ended or never came: nothing is changed. */
  | { readonly kind: "too_late" }
  | Refusal;

export interface Intake {
  route(arrival: Arrival): Route;
  refuse(arrival: Arrival, refusal: Refusal): Promise<Receipt>;
  enqueue(arrival: Arrival, sessionKey: string): Promise<Receipt>;
  revise(arrival: Arrival, sessionKey: string): Promise<Receipt>;
}

export async function accept<Raw>(raw: Raw, channel: Channel<Raw>, intake: Intake): Promise<Receipt> {
  const arrival = channel.parse(raw);
  const route = intake.route(arrival);
  if (route.kind === "refused") return intake.refuse(arrival, route);
  if (arrival.revision !== undefined) return intake.revise(arrival, route.sessionKey);
  return intake.enqueue(arrival, route.sessionKey);
}
