/** Entries as callers give them. */
import type { NewEntry } from "@holdfast/sessions";

export const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } });

export const answer = (text: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
});

export const call = (...ids: string[]): NewEntry => ({
  type: "message",
  message: {
    role: "assistant",
    content: ids.map((id) => ({ type: "toolCall", id, name: "write", arguments: {} })),
    stopReason: "toolUse",
  },
});

export const result = (toolCallId: string, entryId: string, ordinal: number): NewEntry => ({
  type: "message",
  call: { entryId, ordinal },
  message: {
    role: "toolResult",
    toolCallId,
    toolName: "write",
    content: [{ type: "text", text: "ok" }],
    isError: false,
  },
});
