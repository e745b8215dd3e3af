/**
 * The model that is used when none is configured: offline, no key, and it says so. It understands a few wishes in
 * English and Chinese, enough to try every mechanism (rehearsal/ has its parts: words, wishes, plans).
 * Invariant: an answer is a function of the request alone; otherwise it would lose its thread at every restart.
 */
import type { World } from "@holdfast/base";
import type { ContentBlock } from "@holdfast/sessions";
import type { Model } from "../types.ts";
import { abortedAnswer, callsIn, finishedAnswer, splitName, streamBlocks } from "./answers.ts";
import { respond } from "./rehearsal/respond.ts";

/** Its name in configuration, transcripts and status. */
export const REHEARSAL = "rehearsal/offline";

/** Few enough not to delay anybody, enough to see text arrive. */
const PIECES = 8;
const PAUSE_MS = 15;

/** `notice`: its first answer to a wish says that it is a rehearsal; whoever chose it by name knows. */
export function rehearsalModel(world: World, { notice = true }: { readonly notice?: boolean } = {}): Model {
  const by = { ...splitName(REHEARSAL), api: "rehearsal" };
  return {
    name: REHEARSAL,
    api: by.api,
    async ask(request, options) {
      const move = respond(request, { notice });
      const block: ContentBlock =
        move.kind === "say"
          ? { type: "text", text: move.text }
          : { type: "toolCall", id: `call_${callsIn(request.messages) + 1}`, name: move.tool, arguments: move.args };
      const length = block.type === "text" ? [...block.text].length : 1;
      const pace = { world, pieceChars: Math.ceil(length / PIECES), pauseMs: PAUSE_MS };
      const { shown, aborted } = await streamBlocks([block], pace, options);
      return aborted ? abortedAnswer(by, shown) : finishedAnswer(by, shown);
    },
  };
}
