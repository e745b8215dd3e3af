/**
 * What does the log still lack before this message is answered? A pure function: the first run, a retry and a recovery
 * ask the same question and go on from the answer.
 *
 * open → [ nextStep ⟲ hear | ask | act ] → reply
 * Messages that were taken into the turn are heard between a batch of results and the next question, never inside one.
 * Invariant: it asks whether an entry *answers* the message, not whether one follows it; else a message that arrived while
 * another was being answered would be taken for answered.
 */
import type { Entry, ToolCallBlock } from "@holdfast/sessions";
import { type AnswerEntry, callsOf, isAnswer, isResult, isUser, type UserEntry } from "./entries.ts";

/** A call without a result; `ordinal` counts the calls of its answer from 0. */
export interface OpenCall {
  readonly answer: AnswerEntry;
  readonly ordinal: number;
  readonly call: ToolCallBlock;
}

export type Next =
  /** `keys`: the messages that are not in the log yet, in the order they came. */
  | { readonly kind: "hear"; readonly keys: readonly string[] }
  | { readonly kind: "ask"; readonly answering: readonly string[] }
  | { readonly kind: "act"; readonly answer: AnswerEntry; readonly open: readonly OpenCall[] }
  | { readonly kind: "reply"; readonly entry: AnswerEntry }
  | { readonly kind: "failed"; readonly entry: AnswerEntry };

interface Keyed {
  readonly key: string;
}

/**
 * `since`: the entries after the leaf at which the item began, in file order, on all branches. `joined`: the messages that
 * were taken into its turn. The turn ends with the answer to its own message, whether or not that answers the joined ones.
 */
export function nextStep(since: readonly Entry[], message: Keyed, joined: readonly Keyed[] = []): Next {
  const heard = heardAs(since, message);
  const silent = joined.filter((other) => heardAs(since, other) === undefined).map(({ key }) => key);
  if (heard === undefined) return { kind: "hear", keys: [message.key, ...silent] };
  const parents = parentsOf(since);
  const answer = lastAnswer(since, heard, parents);
  if (answer !== undefined) {
    if (hasFailed(answer)) return { kind: "failed", entry: answer };
    if (isFinal(answer)) return { kind: "reply", entry: answer };
    const open = openCalls(since).filter((call) => call.answer.id === answer.id);
    if (open.length > 0) return { kind: "act", answer, open };
  }
  if (silent.length > 0) return { kind: "hear", keys: silent };
  const waiting = joined.flatMap((other) => {
    const entry = heardAs(since, other);
    return entry === undefined || isAnswered(since, entry, parents) ? [] : [entry.id];
  });
  return { kind: "ask", answering: [...new Set([...(answer?.answers ?? [heard.id]), ...waiting])] };
}

function heardAs(since: readonly Entry[], { key }: Keyed): UserEntry | undefined {
  return since.find((entry): entry is UserEntry => isUser(entry) && entry.message.key === key);
}

function lastAnswer(
  since: readonly Entry[],
  heard: UserEntry,
  parents: ReadonlyMap<string, Entry>,
): AnswerEntry | undefined {
  return since.findLast((entry): entry is AnswerEntry => isAnswer(entry) && answers(entry, heard, parents));
}

/** Answered to the end, or visibly failed. */
function isAnswered(since: readonly Entry[], heard: UserEntry, parents: ReadonlyMap<string, Entry>): boolean {
  const answer = lastAnswer(since, heard, parents);
  return answer !== undefined && (hasFailed(answer) || isFinal(answer));
}

/** Those of the messages that this answer answers. */
export function answeredBy<Each extends Keyed>(
  since: readonly Entry[],
  answer: AnswerEntry,
  messages: readonly Each[],
): readonly Each[] {
  const parents = parentsOf(since);
  return messages.filter((message) => {
    const heard = heardAs(since, message);
    return heard !== undefined && answers(answer, heard, parents);
  });
}

/** Every call without a result, in file order. Parents that are not among `entries` end a path. */
export function openCalls(entries: readonly Entry[]): readonly OpenCall[] {
  const parents = parentsOf(entries);
  const open = new Map<string, OpenCall>();
  for (const entry of entries) {
    if (isAnswer(entry) && !hasFailed(entry)) {
      for (const [ordinal, call] of callsOf(entry).entries()) {
        open.set(callName(entry.id, ordinal), { answer: entry, ordinal, call });
      }
    }
    if (!isResult(entry)) continue;
    if (entry.call !== undefined) open.delete(callName(entry.call.entryId, entry.call.ordinal));
    else closeForeign(entry, entry.message.toolCallId, { open, parents });
  }
  return [...open.values()];
}

/** A result of another program belongs to the nearest earlier unanswered call of its id on its own path. */
function closeForeign(
  result: Entry,
  toolCallId: string,
  { open, parents }: { readonly open: Map<string, OpenCall>; readonly parents: ReadonlyMap<string, Entry> },
): void {
  for (const ancestor of ancestorsOf(result, parents)) {
    for (const [name, { answer, call }] of open) {
      if (answer.id !== ancestor.id || call.id !== toolCallId) continue;
      open.delete(name);
      return;
    }
  }
}

/**
 * Ours say what they answer. An answer without `answers` (another program's, an old file's) answers all user entries
 * between it and the previous final answer on its path, unless it is a mere error.
 */
function answers(entry: AnswerEntry, heard: UserEntry, parents: ReadonlyMap<string, Entry>): boolean {
  if (entry.answers !== undefined) return entry.answers.includes(heard.id);
  if (hasFailed(entry)) return false;
  for (const ancestor of ancestorsOf(entry, parents)) {
    if (ancestor.id === heard.id) return true;
    if (isAnswer(ancestor) && isFinal(ancestor) && !hasFailed(ancestor)) return false;
  }
  return false;
}

function hasFailed(answer: AnswerEntry): boolean {
  return answer.message.stopReason === "error" || answer.message.stopReason === "aborted";
}

function isFinal(answer: AnswerEntry): boolean {
  return callsOf(answer).length === 0;
}

function callName(entryId: string, ordinal: number): string {
  return `${entryId}#${ordinal}`;
}

function parentsOf(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/** From the parent upwards, as far as the entries reach. Parents precede children, so this ends. */
function* ancestorsOf(entry: Entry, parents: ReadonlyMap<string, Entry>): Generator<Entry> {
  const seen = new Set([entry.id]);
  let at = entry.parentId;
  while (at !== null) {
    const parent = parents.get(at);
    if (parent === undefined || seen.has(parent.id)) return;
    seen.add(parent.id);
    yield parent;
    at = parent.parentId;
  }
}

/** Whether `leaf` is `ancestor` or lies below it. Everything after the item's start is in `since`; `ancestor` may be the start itself. */
export function descends(since: readonly Entry[], leaf: string | null, ancestor: string | null): boolean {
  if (leaf === ancestor || ancestor === null) return true;
  const parents = parentsOf(since);
  const first = leaf === null ? undefined : parents.get(leaf);
  if (first === undefined) return false;
  if (first.parentId === ancestor) return true;
  for (const entry of ancestorsOf(first, parents))
    if (entry.id === ancestor || entry.parentId === ancestor) return true;
  return false;
}
