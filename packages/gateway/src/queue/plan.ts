/**
 * What becomes of a message that arrives while others of its conversation wait or are at work. Pure.
 *
 * accept → [ plan: queue | stop | drop ] → [lane]
 * Invariant: what gives way is named here, kept in the lane as dropped, and its sender is told; nothing vanishes.
 */
import type { Message } from "@holdfast/agent";
import type { Arrival } from "../channels.ts";
import { answerIn, type ContextOrder, contextOrderIn, isStop } from "./words.ts";

export type QueueMode = "steer" | "followup" | "collect" | "interrupt";

export interface QueueSettings {
  readonly mode: QueueMode;
  readonly debounceMs: number;
  /** Most messages that wait. */
  readonly cap: number;
  readonly drop: "summarize" | "old" | "new";
}

/** What the lane holds of the conversation now, oldest first. */
export interface Waiting {
  readonly id: string;
  readonly message: Message;
  /** Nobody has begun it, and no turn has taken it in. */
  readonly free: boolean;
  /** Of an earlier overflow: what was dropped before it. */
  readonly dropped: readonly string[];
  /** Requests for approval that it waits for; their ids. */
  readonly approvals: readonly string[];
  readonly acceptedMs: number;
}

/** The conversation when the message arrives. */
export interface Present {
  readonly waiting: readonly Waiting[];
  /** Who wrote what is answered now; nobody: it is not busy. */
  readonly running: readonly string[];
  readonly nowMs: number;
}

export type Plan =
  /**
   * `drops`: ids that give way. `dropped`: what the model is told of them, one line each. `laterMs`: not to be begun before
   * that, and `delays` neither: ids of what waits for the same quiet.
   */
  | {
      readonly kind: "queue";
      readonly drops: readonly string[];
      readonly dropped: readonly string[];
      readonly laterMs: number;
      readonly delays: readonly string[];
    }
  /** Work stops; what waits is dropped. */
  | { readonly kind: "stop"; readonly drops: readonly string[] }
  /** A person's decision; null: no such request waits. */
  | { readonly kind: "decide"; readonly approval: string | null; readonly decision: "yes" | "no" }
  /** The owner asks about the conversation itself; no model is. */
  | { readonly kind: "order"; readonly order: ContextOrder }
  /** The message itself gives way. */
  | { readonly kind: "refuse" };

const PREVIEW_CHARS = 160;
/** Whoever never stops writing is answered after this many times the quiet that is waited for. */
const DELAYS_MAX = 10;

/** In a shared conversation nobody but the owner ends what somebody else asked for. */
function mayStop({ from }: { readonly from: Message["from"] }, asker: string): boolean {
  return from.owner || from.id === asker;
}

export function plan(
  { message, literal = false }: Pick<Arrival, "literal"> & { readonly message: Pick<Message, "text" | "from"> },
  { waiting, running, nowMs }: Present,
  settings: QueueSettings,
): Plan {
  const answer = literal || !message.from.owner ? null : answered(message.text, waiting);
  if (answer !== null) return answer;
  const order = literal || !message.from.owner ? null : contextOrderIn(message.text);
  if (order !== null) return { kind: "order", order };
  const free = waiting.filter((item) => item.free);
  const theirs = free.filter((item) => mayStop(message, item.message.from.id));
  if (!literal && isStop(message.text) && (running.length === 0 || running.some((id) => mayStop(message, id))))
    return { kind: "stop", drops: theirs.map(({ id }) => id) };
  const waits = running.length > 0 && (settings.mode === "collect" || settings.mode === "followup");
  const laterMs = waits ? settings.debounceMs : 0;
  const patient = ({ acceptedMs }: Waiting): boolean => nowMs - acceptedMs < DELAYS_MAX * laterMs;
  const delays = free.filter(patient).map(({ id }) => id);
  const over = free.length - settings.cap + 1;
  if (over <= 0) return { kind: "queue", drops: [], dropped: [], laterMs, delays };
  if (settings.drop === "new") return { kind: "refuse" };
  const oldest = free.slice(0, over);
  const told = oldest.flatMap((item) => [...item.dropped, preview(item.message.text)]);
  const dropped = settings.drop === "old" ? [] : told.slice(-settings.cap);
  return { kind: "queue", drops: oldest.map(({ id }) => id), dropped, laterMs, delays };
}

/** A plain yes or no counts only where exactly one request waits; else it is a message like any other. */
function answered(text: string, waiting: readonly Waiting[]): Plan | null {
  const answer = answerIn(text);
  if (answer === null) return null;
  const { id, decision, plain } = answer;
  const ids = waiting.flatMap(({ approvals }) => approvals);
  const meant = id === null ? ids : ids.filter((each) => each.startsWith(id));
  if (meant.length === 1) return { kind: "decide", approval: meant[0]!, decision };
  return plain ? null : { kind: "decide", approval: null, decision };
}

/** One line of a text. */
export function preview(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length <= PREVIEW_CHARS ? line : `${line.slice(0, PREVIEW_CHARS).toWellFormed()}…`;
}

/** The settings for a channel: its own where it has some, else the common ones. */
export function settingsFor(
  channel: string,
  queue: QueueSettings & { readonly byChannel: Readonly<Record<string, Partial<QueueSettings>>> },
): QueueSettings {
  const { byChannel, ...common } = queue;
  const own = Object.hasOwn(byChannel, channel) ? byChannel[channel] : undefined;
  return { ...common, ...own };
}
