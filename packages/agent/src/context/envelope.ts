/**
 * The line that the model is shown above a message: when it came and, where that is not plain, from whom. Pure.
 *
 * It stands in the log beside the text as its sender wrote it, and is fixed when the message is heard: so the time of day is
 * never in the system prompt, and no later request says it in other words.
 * Invariant: whatever a sender is called, the line stays one line and says nothing but a name.
 */
import type { EntryMessage, UserMessage } from "@holdfast/sessions";
import type { Message } from "../types.ts";
import { clockAt } from "./bootstrap/days.ts";
import { kindOf } from "./bootstrap/kinds.ts";

const NAME_CHARS_MAX = 64;

/** As in `[Tue 2026-12-01 19:40 +08:00]`, with `, from "Ana"` unless the owner wrote it where nobody else writes. */
export function envelopeOf(
  { from, receivedMs }: Pick<Message, "from" | "receivedMs">,
  { sessionKey, timezone }: { readonly sessionKey: string; readonly timezone: string },
): string {
  const { weekday, day, time, offset } = clockAt(timezone, receivedMs);
  const kind = kindOf(sessionKey);
  const isPlain = from.owner && kind !== "group" && kind !== "thread";
  return `[${weekday} ${day} ${time} ${offset}${isPlain ? "" : `, from ${quoted(from.name ?? from.id)}`}]`;
}

function quoted(name: string): string {
  const line = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029"[\]]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return `"${[...line].slice(0, NAME_CHARS_MAX).join("")}"`;
}

/** The same messages with their envelopes as first lines; those without one as they are. */
export function inEnvelopes(messages: readonly EntryMessage[]): readonly EntryMessage[] {
  return messages.map(inEnvelope);
}

/** One message of a conversation comes out as the same object each time, so that what was found out about it can be kept. */
export function inEnvelope(message: EntryMessage): EntryMessage {
  const { role, envelope } = message as UserMessage;
  if (role !== "user" || typeof envelope !== "string" || envelope === "") return message;
  const known = enveloped.get(message);
  if (known !== undefined) return known;
  const made = withFirstLine(message as UserMessage, envelope);
  enveloped.set(message, made);
  return made;
}

const enveloped = new WeakMap<EntryMessage, EntryMessage>();

function withFirstLine(message: UserMessage, envelope: string): EntryMessage {
  const { content } = message;
  const line = { type: "text", text: envelope } as const;
  if (typeof content === "string") return { ...message, content: [line, { type: "text", text: content }] };
  return Array.isArray(content) ? { ...message, content: [line, ...content] } : message;
}
