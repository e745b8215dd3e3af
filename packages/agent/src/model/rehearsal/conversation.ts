/**
 * What a request says, seen by the rehearsal model: the last thing said, in which language, and what was done since.
 * Pure. Invariant: a call counts as done only with its result; a result belongs to the nearest earlier open call of its id.
 */
import { isObject } from "@holdfast/base";
import type { AssistantMessage, EntryMessage, ToolCallBlock, ToolResultMessage, UserMessage } from "@holdfast/sessions";
import type { ModelRequest, Verdict } from "../../types.ts";

export type Language = "en" | "zh";

/** One call with its result. `at` is the result's place among the messages. */
export interface Step {
  readonly at: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly failed: boolean;
  /** Set when the result was made after an interruption. */
  readonly verdict: Verdict | null;
}

export interface Conversation {
  /** The last user message. */
  readonly said: string;
  /** Its place among the messages; -1 when there is none. */
  readonly saidAt: number;
  readonly language: Language;
  /** No answer has been given yet. */
  readonly first: boolean;
  readonly messages: readonly EntryMessage[];
  /** All calls with results, oldest first. */
  readonly steps: readonly Step[];
  /** Recovered steps that no answer has mentioned yet. */
  readonly unreported: readonly Step[];
  readonly tools: ReadonlySet<string>;
}

export function isUser(message: EntryMessage): message is UserMessage {
  return message.role === "user" && (typeof message.content === "string" || Array.isArray(message.content));
}
export function isAssistant(message: EntryMessage): message is AssistantMessage {
  return message.role === "assistant" && Array.isArray(message.content);
}
function isToolResult(message: EntryMessage): message is ToolResultMessage {
  return message.role === "toolResult" && Array.isArray(message.content);
}

/** The text of a message, its blocks joined by line breaks, without its envelope; "" for roles without text. */
export function textOf(message: EntryMessage): string {
  if (typeof message.content === "string") return message.content;
  if (!isUser(message) && !isAssistant(message) && !isToolResult(message)) return "";
  const blocks = typeof message.content === "string" ? [] : message.content;
  const [first] = blocks;
  const inside = first?.type === "text" && first.text === (message as UserMessage).envelope ? blocks.slice(1) : blocks;
  return inside.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** An answer without calls that was not cut short. */
export function isFinalAnswer(message: EntryMessage): boolean {
  if (!isAssistant(message) || message.stopReason === "error" || message.stopReason === "aborted") return false;
  return callsOf(message).length === 0 && textOf(message) !== "";
}

const VERDICTS: readonly string[] = ["not_started", "happened", "absent", "conflict", "unknown"] satisfies Verdict[];

function isVerdict(value: unknown): value is Verdict {
  return typeof value === "string" && VERDICTS.includes(value);
}

function verdictOf(details: unknown): Verdict | null {
  const holdfast = isObject(details) ? details.holdfast : undefined;
  const verdict = isObject(holdfast) ? holdfast.verdict : undefined;
  return isVerdict(verdict) ? verdict : null;
}

/** The note that comes before a recovered result's own text; it is said in other words. */
const RECOVERED_NOTE = /^\[Recovered\][^\n]*\n/;

function stepsOf(messages: readonly EntryMessage[]): readonly Step[] {
  const open = new Map<string, ToolCallBlock>();
  const steps: Step[] = [];
  for (const [at, message] of messages.entries()) {
    if (isAssistant(message)) for (const call of callsOf(message)) open.set(call.id, call);
    if (!isToolResult(message)) continue;
    const call = open.get(message.toolCallId);
    if (call === undefined) continue;
    open.delete(message.toolCallId);
    const text = textOf(message).replace(RECOVERED_NOTE, "");
    const verdict = verdictOf(message.details);
    steps.push({ at, tool: call.name, args: call.arguments, text, failed: message.isError, verdict });
  }
  return steps;
}

function callsOf(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.filter((block) => block.type === "toolCall");
}

/** Chinese as soon as one Han character is there; a message without letters goes on in the language before it. */
function languageOf(texts: readonly string[]): Language {
  for (const text of texts.toReversed()) {
    if (/\p{Script=Han}/u.test(text)) return "zh";
    if (/\p{L}/u.test(text)) return "en";
  }
  return "en";
}

export function readConversation({ messages, tools }: ModelRequest): Conversation {
  const saidAt = messages.findLastIndex(isUser);
  const answeredAt = messages.findLastIndex(isFinalAnswer);
  const steps = stepsOf(messages);
  const last = messages[saidAt];
  return {
    said: last === undefined ? "" : textOf(last).trim(),
    saidAt,
    language: languageOf(messages.filter(isUser).map(textOf)),
    first: answeredAt < 0,
    messages,
    steps,
    unreported: steps.filter((step) => step.at > answeredAt && step.verdict !== null),
    tools: new Set(tools.map((tool) => tool.name)),
  };
}
