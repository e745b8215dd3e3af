/**
 * What the conversation shows, from what the page knows: a pure translation, row by row, oldest first.
 * Invariants: each message and each call has exactly one row, whatever stage it is in; what is not saved says so.
 */
import type { WireItem } from "@holdfast/gateway/wire";
import type { Entry } from "../live/path.ts";
import type { Draft, LiveState, Outgoing, Restart } from "../live/state.ts";
import { type Call, collectCalls, type CallBook } from "./calls.ts";
import { type AssistantMessage, assistantOf, fieldOf, textOf, timeOf, type UserMessage, userOf } from "./read-entry.ts";

export type Ring = "sending" | "accepted" | "saved";
export type Trouble =
  | { readonly kind: "not-sent"; readonly reason: string; readonly outgoing: Outgoing }
  | {
      readonly kind: "failed";
      readonly reason: string | null;
      /** One of docs/errors.md where it is known. */
      readonly code: string | null;
      readonly text: string;
    };

export interface MineRow {
  readonly kind: "mine";
  readonly id: string;
  readonly text: string;
  readonly at: number | null;
  readonly ring: Ring;
  /** Accepted, and others are before it. */
  readonly waits: boolean;
  readonly trouble: Trouble | null;
}
export interface AnswerRow {
  readonly kind: "answer";
  readonly id: string;
  readonly text: string;
  readonly at: number | null;
  readonly saved: boolean;
}
export interface CallRow {
  readonly kind: "call";
  readonly id: string;
  readonly call: Call;
}
/** An answer that failed. `again`: the message it failed to answer, where nothing was said since. */
export interface FailureRow {
  readonly kind: "failure";
  readonly id: string;
  readonly code: string | null;
  readonly text: string;
  readonly again: string | null;
}
export type Row =
  | MineRow
  | AnswerRow
  | CallRow
  | { readonly kind: "thinking"; readonly id: string; readonly text: string }
  | { readonly kind: "notice"; readonly id: string; readonly what: Notice; readonly text: string }
  | FailureRow
  | { readonly kind: "restarted"; readonly id: string; readonly at: number }
  | { readonly kind: "draft"; readonly id: string; readonly draft: Draft }
  | { readonly kind: "working"; readonly id: string };
export type Notice = "answer-cut" | "answer-aborted" | "summarised" | "branch-summary" | "message";

export function rowsOf(state: LiveState): readonly Row[] {
  const calls = collectCalls(state.entries, state.running);
  const saved = state.entries.flatMap((entry) => [
    ...rowsOfEntry(entry, state, calls),
    ...state.restarts.filter((restart) => restart.after === entry.id).map(restartRow),
  ]);
  const rows = [...saved, ...pendingRows(state), ...state.drafts.map(draftRow)];
  const silent = state.running && state.drafts.length === 0 && !rows.some(inFlight);
  return silent ? [...rows, { kind: "working", id: "working" }] : rows;
}

/** Messages of this page that are not saved yet. */
export function unsavedCount(rows: readonly Row[]): number {
  return rows.filter((row) => row.kind === "mine" && row.ring !== "saved").length;
}

function restartRow({ after, at }: Restart): Row {
  return { kind: "restarted", id: `restarted/${after}`, at };
}

function draftRow(draft: Draft): Row {
  return { kind: "draft", id: draft.answerId, draft };
}

function inFlight(row: Row): boolean {
  return row.kind === "call" && row.call.state === "in_flight";
}

function rowsOfEntry(entry: Entry, state: LiveState, calls: CallBook): readonly Row[] {
  const user = userOf(entry);
  if (user) return [savedMine(entry, user, state)];
  const assistant = assistantOf(entry);
  if (assistant) return [...answerRows(entry, assistant, state, calls), ...endRows(entry, assistant, state)];
  if (entry.type === "compaction") return [notice(entry, "summarised", "")];
  if (entry.type === "branch_summary")
    return [notice(entry, "branch-summary", String(fieldOf(entry, "summary") ?? ""))];
  if (entry.type === "custom_message" && fieldOf(entry, "display") === true) {
    return [notice(entry, "message", textOf(fieldOf(entry, "content")))];
  }
  return [];
}

function notice(entry: Entry, what: Notice, text: string): Row {
  return { kind: "notice", id: entry.id, what, text };
}

function savedMine(entry: Entry, user: UserMessage, state: LiveState): Row {
  const item = state.items.find((candidate) => isAbout(candidate, entry, user));
  const failed =
    item !== undefined && isLost(item) && !state.entries.some((other) => other.answers?.includes(entry.id));
  const text = textOf(user.content);
  return {
    kind: "mine",
    id: item?.clientKey ?? entry.id,
    text,
    at: timeOf(entry),
    ring: state.unsaved.has(entry.id) ? "accepted" : "saved",
    waits: false,
    trouble: failed ? { kind: "failed", reason: item.failure, code: item.failureCode ?? null, text } : null,
  };
}

/**
 * A lane item and the user entry made from it share the last part of the message key. An item without a client key
 * has a part of its own; there the words and the order of times must do.
 */
function isAbout(item: WireItem, entry: Entry, user: UserMessage): boolean {
  if (item.clientKey !== null) return user.key?.endsWith(`:${item.clientKey}`) === true;
  return textOf(user.content) === item.text && (timeOf(entry) ?? 0) >= item.acceptedAt;
}

function answerRows(entry: Entry, message: AssistantMessage, state: LiveState, calls: CallBook): readonly Row[] {
  let ordinal = -1;
  return message.content.flatMap((block, index): readonly Row[] => {
    const id = `${entry.id}/${index}`;
    if (block.type === "toolCall") {
      ordinal += 1;
      return [{ kind: "call", id, call: calls.callOf(entry, block, ordinal) }];
    }
    if (block.type === "thinking")
      return block.thinking.trim() === "" ? [] : [{ kind: "thinking", id, text: block.thinking }];
    if (block.type !== "text" || block.text.trim() === "") return [];
    return [{ kind: "answer", id, text: block.text, at: timeOf(entry), saved: !state.unsaved.has(entry.id) }];
  });
}

function endRows(entry: Entry, message: AssistantMessage, state: LiveState): readonly Row[] {
  const row = (what: Notice): readonly Row[] => [{ kind: "notice", id: `${entry.id}/end`, what, text: "" }];
  if (message.stopReason === "error") return [failureRow(entry, message, state)];
  if (message.stopReason === "aborted") return row("answer-aborted");
  return message.stopReason === "length" ? row("answer-cut") : [];
}

function failureRow(entry: Entry, message: AssistantMessage, { entries }: LiveState): Row {
  const code = fieldOf(entry, "failure") ?? fieldOf(entry, "stopped");
  const asked = entries.findLast((other) => userOf(other) !== null);
  const user = asked !== undefined && entry.answers?.includes(asked.id) === true ? userOf(asked) : null;
  return {
    kind: "failure",
    id: `${entry.id}/end`,
    code: typeof code === "string" ? code : null,
    text: message.errorMessage ?? "",
    again: user === null ? null : textOf(user.content),
  };
}

/** Items without an entry on the path, then what the gateway does not have yet. */
function pendingRows(state: LiveState): readonly Row[] {
  const heard = (item: WireItem): boolean =>
    state.entries.some((entry) => {
      const user = userOf(entry);
      return user !== null && isAbout(item, entry, user);
    });
  const items = state.items
    .filter((item) => item.state !== "done" && !heard(item))
    .sort((left, right) => left.acceptedAt - right.acceptedAt);
  const asks = state.items.flatMap((item): Row[] =>
    item.asks ? [{ kind: "notice", id: `asks-${item.id}`, what: "message", text: item.asks }] : [],
  );
  return [...asks, ...items.map((item) => itemRow(item)), ...state.outgoing.map(outgoingRow)];
}

function isLost({ state }: WireItem): boolean {
  return state === "failed" || state === "dropped";
}

function itemRow(item: WireItem): Row {
  const failed = isLost(item);
  return {
    kind: "mine",
    id: item.clientKey ?? item.id,
    text: item.text,
    at: item.acceptedAt,
    ring: "accepted",
    waits: item.state === "queued",
    trouble: failed ? { kind: "failed", reason: item.failure, code: item.failureCode ?? null, text: item.text } : null,
  };
}

function outgoingRow(outgoing: Outgoing): Row {
  const { clientKey, text, at, refusal } = outgoing;
  const trouble: Trouble | null = refusal === null ? null : { kind: "not-sent", reason: refusal, outgoing };
  return { kind: "mine", id: clientKey, text, at, ring: "sending", waits: false, trouble };
}
