/** What hygiene works on: messages with the place each came from, and notes of what was done. */
import type { AssistantMessage, ContentBlock, EntryMessage, ToolResultMessage, UserMessage } from "@holdfast/sessions";

/** `from`: index of the message it was made of; null: it stands for none. */
export interface Part<Message extends EntryMessage = EntryMessage> {
  readonly message: Message;
  readonly from: number | null;
  /** False: the ids of its calls lose what ties them to stored thoughts. */
  readonly linked?: boolean;
}

export interface Change {
  readonly from: number | null;
  /** What was done, as one word. */
  readonly why: string;
}

/** Told of each change. */
export type Note = (from: number | null, why: string) => void;

/** What stands where nothing is, and a provider insists on something. */
export const NOTHING = "(nothing)";

export function isAnswer(message: EntryMessage): message is AssistantMessage {
  return message.role === "assistant" && Array.isArray(message.content);
}

export function isResult(message: EntryMessage): message is ToolResultMessage {
  return message.role === "toolResult" && Array.isArray(message.content);
}

export function isUser(message: EntryMessage): message is UserMessage {
  return message.role === "user" && (typeof message.content === "string" || Array.isArray(message.content));
}

export function isBlank(block: ContentBlock): boolean {
  if (block.type === "text") return typeof block.text !== "string" || block.text.trim() === "";
  return block.type === "thinking" && block.thinking.trim() === "" && block.thinkingSignature === undefined;
}

export function text(said: string): ContentBlock {
  return { type: "text", text: said };
}
