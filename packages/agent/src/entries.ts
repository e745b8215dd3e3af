/**
 * Reading the log: which entries are questions, answers and results, and our own kinds of state, typed.
 * Invariant: what is not in the expected shape is not there; stored text is data and never trusted to be ours.
 */
import { isObject, type JsonObject } from "@holdfast/base";
import type {
  AssistantMessage,
  CustomEntry,
  Entry,
  EntryMessage,
  MessageEntry,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@holdfast/sessions";
import type { Effect, Verdict } from "./types.ts";

export type UserEntry = MessageEntry & { readonly message: UserMessage };
/** `stopped`: on a failure of ours, why the turn ended. `approved`: the request whose yes it takes up. */
export type AnswerEntry = MessageEntry & {
  readonly message: AssistantMessage;
  readonly stopped?: unknown;
  readonly approved?: unknown;
};
export type ResultEntry = MessageEntry & { readonly message: ToolResultMessage };

function messageIn(entry: Entry): EntryMessage | undefined {
  const { type, message } = entry as Partial<MessageEntry>;
  return type === "message" && isObject(message) ? message : undefined;
}

/** The kind of a state entry, or undefined. */
export function customTypeOf(entry: Entry): string | undefined {
  const { type, customType } = entry as Partial<CustomEntry>;
  return type === "custom" ? customType : undefined;
}

export function isUser(entry: Entry): entry is UserEntry {
  return messageIn(entry)?.role === "user";
}

export function isAnswer(entry: Entry): entry is AnswerEntry {
  const message = messageIn(entry);
  return message?.role === "assistant" && Array.isArray(message.content);
}

export function isResult(entry: Entry): entry is ResultEntry {
  const message = messageIn(entry);
  return message?.role === "toolResult" && typeof message.toolCallId === "string";
}

/** The calls of an answer, in order: the index is the call's ordinal. */
export function callsOf(answer: AnswerEntry): readonly ToolCallBlock[] {
  return answer.message.content.filter((block) => block.type === "toolCall");
}

/** The text of an answer as people read it. */
export function textOf(answer: AnswerEntry): string {
  const texts = answer.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n").trim();
}

/** The data of the state entries of one of our kinds, where it is an object. */
export function customsOf(entries: readonly Entry[], customType: string): readonly Record<string, unknown>[] {
  return entries.flatMap((entry) => {
    const { data } = entry as Partial<CustomEntry>;
    return customTypeOf(entry) === customType && isObject(data) ? [data] : [];
  });
}

/** `holdfast:turn`: an item's work began, or began again, under the number `t`. */
export interface TurnRecord {
  readonly item: string;
  readonly session: string;
  readonly t: number;
  readonly boot: string;
  readonly fsync: string;
}
export function turnRecordsOf(entries: readonly Entry[]): readonly TurnRecord[] {
  return customsOf(entries, "holdfast:turn").flatMap((data) => {
    const { item, session, t, boot, fsync } = data;
    if (typeof item !== "string" || typeof session !== "string" || typeof t !== "number") return [];
    return [{ item, session, t, boot: String(boot), fsync: String(fsync) }];
  });
}

/** `holdfast:intent`: an effect was about to start. */
export interface Intent {
  readonly home: string;
  readonly entryId: string;
  readonly ordinal: number;
  readonly tool: string;
  readonly effect: Effect;
  readonly key: string;
  readonly resultId: string;
  readonly attempt: number;
  readonly evidence: JsonObject;
}

/** The intents of one call, oldest attempt first. */
export function intentsOf(entries: readonly Entry[], entryId: string, ordinal: number): readonly Intent[] {
  return customsOf(entries, "holdfast:intent").flatMap((data) =>
    data.entryId === entryId && data.ordinal === ordinal && isIntent(data) ? [data] : [],
  );
}

function isIntent(data: unknown): data is Intent {
  if (!isObject(data) || typeof data.attempt !== "number" || !isObject(data.evidence)) return false;
  return [data.home, data.tool, data.effect, data.key, data.resultId].every((field) => typeof field === "string");
}

/** What a result that was made on the way again says about its effect, or undefined for an ordinary result. */
export function recoveredVerdict(result: ResultEntry): Verdict | undefined {
  const details = result.message.details;
  if (!isObject(details) || !isObject(details.holdfast) || details.holdfast.synthetic !== true) return undefined;
  return details.holdfast.verdict as Verdict;
}
