/**
 * Where a context is cut in two: what a summary will stand for, and the newest part that stays as it is. Pure.
 *
 * Invariants: a call and its results are never parted; something stays; a cut that would remove nothing is none.
 */
import { type EntryMessage, isToolResult, toolCallsOf } from "@holdfast/sessions";

export interface Sized {
  readonly message: EntryMessage;
  readonly entryId: string;
  readonly tokens: number;
}

export interface Tail {
  /** About so many tokens stay. */
  readonly keepTokens: number;
  /** So many messages stay instead, where it is a number. */
  readonly keepMessages: number | null;
}

export interface Cut {
  /** Index of the first message that stays. */
  readonly at: number;
  /** Index of the person's message that the part which stays belongs to, where that is not in it; else null. */
  readonly question: number | null;
}

/** `all`: the context, a summary that stands for what was before included. Null: there is nothing to cut off. */
export function cutOf(all: readonly Sized[], tail: Tail): Cut | null {
  const first = all.findIndex(({ message }) => !isOfSummary(message));
  if (first < 0) return null;
  const wanted = Math.max(first, wantedFrom(all, tail));
  const whole = wholeFrom(all);
  const before = whole.findLast((at) => at <= wanted && at > first);
  const at = before ?? whole.find((place) => place > wanted);
  if (at === undefined || at <= first || at >= all.length) return null;
  const question = all.findLastIndex(({ message }) => message.role === "user");
  return { at, question: question >= first && question < at ? question : null };
}

/** What a summary before said, and the system prompt some writers keep with it. */
export function isOfSummary(message: EntryMessage): boolean {
  return message.role === "compactionSummary" || message.role === "system";
}

function wantedFrom(all: readonly Sized[], { keepTokens, keepMessages }: Tail): number {
  if (keepMessages !== null) return Math.max(0, all.length - keepMessages);
  let tokens = 0;
  for (let at = all.length - 1; at >= 0; at--) {
    tokens += all[at]?.tokens ?? 0;
    if (tokens > keepTokens) return at + 1;
  }
  return 0;
}

/** Places between which no call is open, from the second message to behind the last. */
function wholeFrom(all: readonly Sized[]): readonly number[] {
  const places: number[] = [];
  const open = new Map<string, number>();
  for (const [at, { message }] of all.entries()) {
    if (at > 0 && open.size === 0 && !isToolResult(message)) places.push(at);
    for (const { id } of toolCallsOf(message)) if (isAnswered(all, at, id)) open.set(id, at);
    if (isToolResult(message)) open.delete(message.toolCallId);
  }
  return places;
}

/** A call whose result is not on record holds nothing open. */
function isAnswered(all: readonly Sized[], from: number, id: string): boolean {
  return all.some(({ message }, at) => at > from && isToolResult(message) && message.toolCallId === id);
}
