/**
 * What one message says, in the form that providers take: answers that failed go, halves of calls go, empty blocks go,
 * text is readable, arguments are objects.
 *
 * Invariant: nothing is sent empty, and a message that needs no change is the same object afterwards.
 */
import { isObject, tryParse } from "@holdfast/base";
import type {
  AssistantMessage,
  ContentBlock,
  EntryMessage,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@holdfast/sessions";
import { foreignContent } from "./foreign.ts";
import type { Rules, Target } from "./families.ts";
import { isAnswer, isBlank, isResult, isUser, NOTHING, type Note, type Part, text } from "./parts.ts";
import { readable } from "./text.ts";
import { thoughtsFor } from "./thoughts.ts";

export interface Aims {
  readonly rules: Rules;
  readonly target: Target;
}

/** Each message by itself. */
export function cleaned(messages: readonly EntryMessage[], aims: Aims, note: Note): readonly Part[] {
  return messages.flatMap((message, from): Part[] => {
    const shaped = shapedOf(message);
    const whole = readable(shaped);
    if (whole !== shaped) note(from, "text_repaired");
    const noted = (why: string): void => note(from, why);
    if (isAnswer(whole)) return cleanAnswer(whole, aims, noted).map((part) => ({ ...part, from }));
    const clean = cleanOther(whole, aims, noted);
    return clean === undefined ? [] : [{ message: clean, from }];
  });
}

/** Hand-written and older files hold plain texts where blocks belong. */
function shapedOf(message: EntryMessage): EntryMessage {
  const isText = typeof message.content === "string";
  if (!isText || (message.role !== "assistant" && message.role !== "toolResult")) return message;
  return { ...message, content: [text(message.content as string)] };
}

type Noted = (why: string) => void;

/** A failed answer is kept for people; one that was cut short says what people saw, without calls that may be halves. */
function cleanAnswer(answer: AssistantMessage, aims: Aims, noted: Noted): readonly Omit<Part, "from">[] {
  if (answer.stopReason === "error") {
    noted("failed_answer");
    return [];
  }
  const cut = answer.stopReason === "aborted";
  const whole = cut ? answer.content.filter(({ type }) => type !== "toolCall") : answer.content;
  if (whole.length !== answer.content.length) noted("cut_call");
  const said = whole.filter((block) => !isBlank(block));
  const { content: sendable, linked } = thoughtsFor({ ...answer, content: said }, { ...aims, cut });
  if (sendable.length !== said.length) noted("thought");
  const content = sendable.map((block) => (block.type === "toolCall" ? soundCall(block, aims.rules, noted) : block));
  if (!content.some(({ type }) => type !== "thinking")) {
    noted("empty_answer");
    return [];
  }
  const same = content.length === answer.content.length && content.every((block, at) => block === answer.content[at]);
  // As an answer that ended: what is marked as cut is left out by the code that sends.
  const message: AssistantMessage = cut ? { ...answer, content, stopReason: "stop" } : { ...answer, content };
  return [{ message: same && !cut ? answer : message, linked }];
}

/** Arguments are an object, and the name is one that can be said. */
function soundCall(call: ToolCallBlock, rules: Rules, noted: Noted): ToolCallBlock {
  const name = rules.plainNames ? plainName(call.name) : call.name;
  const sound = isObject(call.arguments);
  if (name === call.name && sound) return call;
  noted(sound ? "tool_name" : "arguments");
  return { ...call, name, arguments: sound ? call.arguments : argumentsFrom(call.arguments) };
}

const NAME_CHARS_MAX = 64;

function plainName(name: unknown): string {
  const plain = String(name ?? "").replace(/[^A-Za-z0-9_-]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain.slice(0, NAME_CHARS_MAX) : `_${plain}`.slice(0, NAME_CHARS_MAX);
}

function argumentsFrom(value: unknown): Readonly<Record<string, unknown>> {
  const parsed = typeof value === "string" ? tryParse(value) : undefined;
  if (isObject(parsed)) return parsed;
  return value === undefined || value === null ? {} : { value };
}

function cleanOther(message: EntryMessage, { rules }: Aims, noted: Noted): EntryMessage | undefined {
  if (isResult(message)) return cleanResult(message, rules);
  if (isUser(message)) return cleanUser(message, noted);
  if (!rules.alternates) return message;
  // Who has to be told from whom must be known where neighbours are joined.
  const content = foreignContent(message);
  return content === "" ? undefined : { role: "user", content, timestamp: message.timestamp };
}

function cleanResult(result: ToolResultMessage, rules: Rules): ToolResultMessage {
  const name = rules.plainNames ? plainName(result.toolName) : result.toolName;
  const named = name === result.toolName ? result : { ...result, toolName: name };
  return withBlocks(named, named.content) ?? { ...named, content: [text(NOTHING)] };
}

function cleanUser(message: UserMessage, noted: Noted): UserMessage {
  if (typeof message.content === "string") {
    if (message.content.trim() !== "") return message;
    noted("empty");
    return { ...message, content: NOTHING };
  }
  const clean = withBlocks(message, message.content);
  if (clean === undefined) noted("empty");
  return clean ?? { ...message, content: NOTHING };
}

/** Without blank blocks; undefined when nothing is left. */
function withBlocks<Message extends UserMessage | ToolResultMessage>(
  message: Message,
  blocks: readonly ContentBlock[],
): Message | undefined {
  const content = blocks.filter((block) => !isBlank(block));
  if (content.length === 0) return undefined;
  return content.length === blocks.length ? message : { ...message, content };
}
