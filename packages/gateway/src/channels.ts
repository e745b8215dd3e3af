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
  /** Its sender changed the message of this key, or took it back; `message.text` is the new one. */
  readonly revision?: "edited" | "deleted";
  /** The text is nothing but text: no order to the gateway is read out of it. */
  readonly literal?: boolean;
}

/** A reply on its way. `itemId`: the accepted message it answers. */
export interface Outgoing {
  readonly reply: Reply;
  readonly itemId: string;
  /** Which piece of a reply that was too long for one message, from 0. Left out: there is one. */
  readonly part?: number;
}

/**
 * Why a send failed, where the channel knows. Anything else that it throws leaves open whether the reply went out.
 * `not_sent`: nothing went out; try again, not before `retryAfterMs`. `permanent`: nothing ever will (no such chat, blocked).
 */
export class SendFailure extends Error {
  readonly kind: "not_sent" | "permanent";
  readonly retryAfterMs: number;
  constructor(kind: SendFailure["kind"], message: string, retryAfterMs = 0) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface Channel<Raw = unknown> {
  readonly name: string;
  /** Longest text of one message, in UTF-16 units; no end when left out. */
  readonly textMax?: number;
  /**
   * How long the platform recognises a second send of the same part, in milliseconds; 0: it never does, so a send that may
   * have gone out is uncertain.
   */
  readonly dedupeMs: number;
  /** What to do with an uncertain send: keep it for a person, or send it again and say so. `hold` when left out. */
  readonly uncertain?: "hold" | "resend";
  parse(raw: Raw): Arrival;
  /** May be called again for the same reply; the platform's id is then the same where the platform allows it. */
  send(outgoing: Outgoing): Promise<{ readonly platformId: string }>;
}
