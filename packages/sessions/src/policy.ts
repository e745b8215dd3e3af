/**
 * Which entries are synced before they are acknowledged, under each `fsync` policy (docs/format.md). Pure.
 * Invariant: under `turn` everything that a right, an effect or a person's word depends on is synced.
 */
import { type Entry, fieldsOf, isAssistant, isMessage, toolCallsOf } from "./entry.ts";
import type { Fsync } from "./types.ts";

const SYNCED_KINDS: ReadonlySet<string> = new Set([
  "holdfast:session",
  "holdfast:leaf",
  "holdfast:fence",
  "holdfast:closed",
  "holdfast:opened",
  "holdfast:intent",
  "holdfast:verdict",
  "holdfast:approval",
  "holdfast:turn",
]);

/** Under `turn`: user messages, results, final answers, and the kinds above. */
function isTurnPoint(entry: Entry): boolean {
  if (entry.type === "custom") return SYNCED_KINDS.has(String(fieldsOf(entry).customType));
  if (!isMessage(entry)) return false;
  const { message } = entry;
  return isAssistant(message)
    ? toolCallsOf(message).length === 0
    : message.role === "user" || message.role === "toolResult";
}

/** Whether a commit of these entries is synced. `forced`: the caller asked for it. */
export function needsSync(policy: Fsync, entries: readonly Entry[], forced: boolean): boolean {
  if (forced || policy === "always") return true;
  return policy === "turn" && entries.some(isTurnPoint);
}
