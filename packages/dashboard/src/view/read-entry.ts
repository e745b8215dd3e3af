/** Reads entries of the wire, whose shapes come from a transcript: only what has the expected form is given on. */
import type { Entry } from "../live/path.ts";

export type MessageEntry = Extract<Entry, { readonly type: "message" }>;
type AnyMessage = MessageEntry["message"];
export type UserMessage = Extract<AnyMessage, { readonly role: "user" }>;
export type AssistantMessage = Extract<AnyMessage, { readonly role: "assistant" }>;
export type ToolResultMessage = Extract<AnyMessage, { readonly role: "toolResult" }>;
export type ContentBlock = AssistantMessage["content"][number];
export type ToolCallBlock = Extract<ContentBlock, { readonly type: "toolCall" }>;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isMessage(entry: Entry): entry is MessageEntry {
  return entry.type === "message" && "message" in entry && isRecord(entry.message);
}

export function userOf(entry: Entry): UserMessage | null {
  return isMessage(entry) && entry.message.role === "user" ? (entry.message as UserMessage) : null;
}

export function assistantOf(entry: Entry): AssistantMessage | null {
  if (!isMessage(entry) || entry.message.role !== "assistant") return null;
  return Array.isArray(entry.message.content) ? (entry.message as AssistantMessage) : null;
}

export function resultOf(entry: Entry): ToolResultMessage | null {
  return isMessage(entry) && entry.message.role === "toolResult" ? (entry.message as ToolResultMessage) : null;
}

/** A field that only some kinds of entry have. */
export function fieldOf(entry: Entry, name: string): unknown {
  const fields: unknown = entry;
  return isRecord(fields) ? fields[name] : undefined;
}

/** The data of one of Holdfast's own state entries, or null when it is another kind. */
export function dataOf(entry: Entry, customType: string): Readonly<Record<string, unknown>> | null {
  if (entry.type !== "custom" || fieldOf(entry, "customType") !== customType) return null;
  const data = fieldOf(entry, "data");
  return isRecord(data) ? data : null;
}

/** The text of a message's content, blocks joined by blank lines. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => (isTextBlock(block) ? [block.text] : [])).join("\n\n");
}

function isTextBlock(block: unknown): block is { readonly text: string } {
  return isRecord(block) && block.type === "text" && typeof block.text === "string";
}

/** Milliseconds since 1970 UTC; null when the entry's time cannot be read. */
export function timeOf(entry: Entry): number | null {
  const ms = Date.parse(entry.timestamp);
  return Number.isNaN(ms) ? null : ms;
}
