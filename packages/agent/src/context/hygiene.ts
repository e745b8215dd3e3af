/**
 * What providers insist on, made true in memory just before a request; the transcript is never touched.
 *
 * Invariant: every call has exactly one result right after its answer. Providers reject anything else, and a conversation
 * that cannot be sent any more is as good as lost.
 */
import type { AssistantMessage, ContentBlock, EntryMessage, ToolResultMessage, UserMessage } from "@holdfast/sessions";

const MISSING = "No result of this call is on record. That does not say that it failed.";
const EMPTIED = "(nothing)";

/** The same conversation as providers accept it. Pure; messages that need no change are passed on as they are. */
export function hygienic(messages: readonly EntryMessage[]): readonly EntryMessage[] {
  const kept: EntryMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (isResult(message)) continue;
    if (!isAssistant(message)) {
      kept.push(wellFormed(isUser(message) ? withContent(message) : message));
      continue;
    }
    const cleaned = cleanAssistant(message);
    if (cleaned === undefined) continue;
    kept.push(wellFormed(cleaned), ...resultsFor(cleaned, messages.slice(index + 1)).map(wellFormed));
  }
  return kept;
}

/** Errored answers lose their calls (they may be halves) and, when nothing is left, go. */
function cleanAssistant(message: AssistantMessage): AssistantMessage | undefined {
  const broken = message.stopReason === "error" || message.stopReason === "aborted";
  const content = message.content.filter((block) => !isEmpty(block) && !(broken && block.type === "toolCall"));
  if (content.length === 0) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

/** One result per call, in the order of the calls: the first one after the answer and before the id is used again. */
function resultsFor(answer: AssistantMessage, after: readonly EntryMessage[]): readonly ToolResultMessage[] {
  return answer.content.flatMap((block) => {
    if (block.type !== "toolCall") return [];
    const reused = after.findIndex((message) => isAssistant(message) && hasCall(message, block.id));
    const until = reused < 0 ? after : after.slice(0, reused);
    const found = until.find(
      (message): message is ToolResultMessage => isResult(message) && message.toolCallId === block.id,
    );
    return [found === undefined ? missingResult(block.id, block.name) : filled(found)];
  });
}

function missingResult(toolCallId: string, toolName: string): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName, content: [{ type: "text", text: MISSING }], isError: true };
}

function filled(result: ToolResultMessage): ToolResultMessage {
  const content = result.content.filter((block) => !isEmpty(block));
  if (content.length === 0) return { ...result, content: [{ type: "text", text: EMPTIED }] };
  return content.length === result.content.length ? result : { ...result, content };
}

function withContent(message: UserMessage): UserMessage {
  if (typeof message.content === "string") {
    return message.content.trim() === "" ? { ...message, content: EMPTIED } : message;
  }
  const content = message.content.filter((block) => !isEmpty(block));
  if (content.length === 0) return { ...message, content: EMPTIED };
  return content.length === message.content.length ? message : { ...message, content };
}

function isEmpty(block: ContentBlock): boolean {
  if (block.type === "text") return block.text.trim() === "";
  return block.type === "thinking" && block.thinking.trim() === "" && block.thinkingSignature === undefined;
}

function hasCall(message: AssistantMessage, id: string): boolean {
  return message.content.some((block) => block.type === "toolCall" && block.id === id);
}

function isAssistant(message: EntryMessage): message is AssistantMessage {
  return message.role === "assistant" && Array.isArray(message.content);
}
function isResult(message: EntryMessage): message is ToolResultMessage {
  return message.role === "toolResult" && Array.isArray(message.content);
}
function isUser(message: EntryMessage): message is UserMessage {
  return message.role === "user" && (typeof message.content === "string" || Array.isArray(message.content));
}

/** Replaces lone surrogates by U+FFFD, at any depth: half a character cannot be encoded as UTF-8. */
function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : (repair(value) as Value);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repair);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), repair(member)]));
}
