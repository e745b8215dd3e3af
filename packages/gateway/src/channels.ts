/**
 * What a channel is: it parses what arrives and sends what goes out, and knows nothing else of the gateway.
 * An arrival becomes durable in `accept`, a reply leaves in `deliver`.
 */
import type { Message, Reply } from "@holdfast/agent";
import type { QueueMode } from "./queue/plan.ts";

/** A parsed arrival. `asked`: the session key the sender chose (web page, API, command line), or null. */
export interface Arrival {
  readonly message: Message;
  readonly asked: string | null;
  /** The client's own idempotency key, shown back to it; null where it has none. */
  readonly clientKey: string | null;
  /** How it meets a turn at work; as configured when left out. */
  readonly mode?: QueueMode;
  /** The text is nothing but text: no order to the gateway is read out of it. */
  readonly literal?: boolean;
}

/** A reply on its way. `itemId`: the accepted message it answers. */
export interface Outgoing {
  readonly reply: Reply;
  readonly itemId: string;
}

export interface Channel<Raw = unknown> {
  readonly name: string;
  parse(raw: Raw): Arrival;
  /** May be called again for the same reply; the platform's id is then the same where the platform allows it. */
  send(outgoing: Outgoing): Promise<{ readonly platformId: string }>;
}
