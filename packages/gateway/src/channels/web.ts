/**
 * The channel of everything local: web page, command line, API. Its "platform" is whoever waits in this process; the
 * entry is in the transcript already, so sending again changes nothing and the entry's id is the platform's id.
 */
import type { Attachment } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import type { Arrival, Channel, Outgoing } from "../channels.ts";

export interface WebArrival extends Pick<Arrival, "mode" | "literal"> {
  /** null: the owner's main conversation. */
  readonly sessionKey: string | null;
  readonly text: string;
  readonly clientKey: string | null;
  /** Kept before (inbox.ts). */
  readonly attachments?: readonly Attachment[];
}

/** Without `:`, which parts the key: else the end of one session's key could pass for the beginning of another's id. */
function bare(id: string): string {
  return id.replace(/[%:]/g, encodeURIComponent);
}

/** Whoever comes through here has shown the gateway's token, so it is the owner. */
export function webChannel(world: World, hand: (outgoing: Outgoing) => void): Channel<WebArrival> {
  return {
    name: "web",
    dedupeMs: Number.POSITIVE_INFINITY,
    parse({ sessionKey, text, clientKey, mode, literal = false, attachments = [] }) {
      const address = { channel: "web", account: "local", chat: sessionKey ?? "main", thread: null };
      const id = clientKey ?? world.newId("item");
      return {
        message: {
          key: `web:local:${address.chat}:${bare(id)}`,
          text,
          from: { id: "owner", name: null, owner: true },
          address,
          receivedMs: world.nowMs(),
          ...(attachments.length === 0 ? {} : { attachments }),
        },
        asked: sessionKey,
        clientKey,
        literal,
        ...(mode === undefined ? {} : { mode }),
      };
    },
    async send(outgoing) {
      hand(outgoing);
      return { platformId: outgoing.reply.entryId };
    },
  };
}
