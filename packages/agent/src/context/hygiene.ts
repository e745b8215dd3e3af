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
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (isResult(message)) continue;
    if (!isAssistant(message)) {
      kept.push(wellFormed(isUser(message) ? withContent(message) : message));
      continue;
    }
    const cleaned = cleanAssistant(message);
    if (cleaned === undefined) continue;
    const results = resultsFor(cleaned, messages.slice(index + 1));
    kept.push(...renamed(cleaned, results, used).map(wellFormed));
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

/** The answer and its results under ids that nothing before them has: models and servers count anew in each turn. */
function renamed(
  answer: AssistantMessage,
  results: readonly ToolResultMessage[],
  used: Set<string>,
): readonly EntryMessage[] {
  const ids: string[] = [];
  const content = answer.content.map((block) => {
    if (block.type !== "toolCall") return block;
    const id = unusedId(block.id, used);
    ids.push(id);
    return id === block.id ? block : { ...block, id };
  });
  const same = content.every((block, index) => block === answer.content[index]);
  const named = results.map((result, index) => {
    const id = ids[index] ?? result.toolCallId;
    return id === result.toolCallId ? result : { ...result, toolCallId: id };
  });
  return [same ? answer : { ...answer, content }, ...named];
}

function unusedId(id: string, used: Set<string>): string {
  let free = id;
  for (let number = 2; used.has(free); number++) free = `${id}_${number}`;
  used.add(free);
  return free;
}

/**
 * One result per call, in the order of the calls: after the answer and before the id is used again; of calls with one id the
 * first gets the first result, and so on.
 */
function resultsFor(answer: AssistantMessage, after: readonly EntryMessage[]): readonly ToolResultMessage[] {
  return answer.content.flatMap((block, index) => {
    if (block.type !== "toolCall") return [];
    const before = answer.content.slice(0, index).filter((other) => other.type === "toolCall" && other.id === block.id);
    const reused = after.findIndex((message) => isAssistant(message) && hasCall(message, block.id));
    const until = reused < 0 ? after : after.slice(0, reused);
    const found = until.filter(
      (message): message is ToolResultMessage => isResult(message) && message.toolCallId === block.id,
    )[before.length];
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
