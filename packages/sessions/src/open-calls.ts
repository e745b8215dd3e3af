/**
 * Tool calls on a path that still lack a result. Pure.
 * Invariant: between a call and its results nothing enters the context, because providers reject such a history. Only
 * calls that this software wrote count: those of other programs are completed when the request is built.
 */
import type { OpenCall } from "./calls.ts";
import { type Entry, isAssistant, isMessage, isToolResult, toolCallsOf } from "./entry.ts";

/** Open calls after one more entry. */
export function afterEntry(open: readonly OpenCall[], entry: Entry, ours: boolean): readonly OpenCall[] {
  if (!isMessage(entry)) return open;
  const { message } = entry;
  if (isToolResult(message)) return open.filter((one) => !isResultOf(entry, message.toolCallId, one));
  if (!isAssistant(message) || !ours || message.stopReason === "error" || message.stopReason === "aborted") return open;
  const calls = toolCallsOf(message);
  return calls.length === 0
    ? open
    : calls.map((call, ordinal) => ({ entryId: entry.id, ordinal, toolCallId: call.id, name: call.name }));
}

function isResultOf(entry: Entry, toolCallId: string, open: OpenCall): boolean {
  if (entry.call === undefined) return open.toolCallId === toolCallId;
  return entry.call.entryId === open.entryId && entry.call.ordinal === open.ordinal;
}

/** The open calls at the end of a path, oldest first. */
export function openCallsOf(path: readonly Entry[]): readonly OpenCall[] {
  return path.reduce<readonly OpenCall[]>((open, entry) => afterEntry(open, entry, entry.g !== undefined), []);
}

/** Whether an entry enters the model's context. */
export function entersContext(entry: Entry): boolean {
  return ["message", "custom_message", "branch_summary", "compaction"].includes(entry.type);
}
