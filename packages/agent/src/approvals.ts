/**
 * Calls that need a person's yes. What was asked and what was decided are entries (`holdfast:approval`), bound to the digest
 * of the exact arguments; the lane only points at them.
 *
 * Invariants: the first decision in the log counts; a yes is good for one run of the call it was asked for, with the arguments
 * it was asked for; a call that was decided is not asked about again.
 */
import { digest, type JsonObject } from "@holdfast/base";
import type { Entry, NewEntry, Session } from "@holdfast/sessions";
import { type AnswerEntry, callsOf, customTypeOf, isAnswer, isResult } from "./entries.ts";
import type { OpenCall } from "./next-step.ts";
import type { ApprovalRequest, Decision } from "./types.ts";

const TYPE = "holdfast:approval";

export function argumentsDigest(tool: string, args: JsonObject): string {
  return digest([tool, args]);
}

export interface Asked {
  /** The id of the entry that asks. */
  readonly id: string;
  readonly item: string;
  readonly entryId: string;
  readonly ordinal: number;
  readonly tool: string;
  readonly digest: string;
  readonly expiresMs: number;
}

export interface Decided {
  readonly id: string;
  readonly decision: Decision;
  readonly by: string;
}

function dataOf(entry: Entry): Record<string, unknown> {
  const { data } = entry as { readonly data?: unknown };
  return customTypeOf(entry) === TYPE && typeof data === "object" && data !== null ? { ...data } : {};
}

export function askedIn(entry: Entry): Asked | undefined {
  const data = dataOf(entry);
  const { item, entryId, ordinal, tool, digest: of, expiresMs } = data;
  if (data.event !== "asked" || typeof ordinal !== "number" || typeof expiresMs !== "number") return undefined;
  return {
    id: entry.id,
    item: String(item),
    entryId: String(entryId),
    ordinal,
    tool: String(tool),
    digest: String(of),
    expiresMs,
  };
}

function decidedIn(entry: Entry): Decided | undefined {
  const { event, id, decision, by } = dataOf(entry);
  if (event !== "decided" || (decision !== "yes" && decision !== "no" && decision !== "expired")) return undefined;
  return { id: String(id), decision, by: String(by) };
}

/** The first decision about a request, or undefined. */
export function decisionOf(log: readonly Entry[], id: string): Decided | undefined {
  for (const entry of log) {
    const decided = decidedIn(entry);
    if (decided?.id === id) return decided;
  }
  return undefined;
}

export type Standing =
  /** Nobody has asked. */
  | { readonly kind: "unasked" }
  | { readonly kind: "waiting"; readonly asked: Asked }
  | { readonly kind: "decided"; readonly asked: Asked; readonly decision: Decision };

/** How a call stands. `log`: the entries since its turn began. */
export function standing(log: readonly Entry[], { answer, ordinal, call }: OpenCall, of: string): Standing {
  const name = typeof answer.approved === "string" ? answer.approved : null;
  for (const entry of log) {
    const asked = askedIn(entry);
    if (asked === undefined || asked.digest !== of || asked.tool !== call.name) continue;
    const own = asked.entryId === answer.id && asked.ordinal === ordinal;
    const lent = asked.id === name && ordinal === 0 && firstWith(log, name)?.id === answer.id;
    if (!own && !lent) continue;
    const decided = decisionOf(log, asked.id);
    return decided === undefined ? { kind: "waiting", asked } : { kind: "decided", asked, decision: decided.decision };
  }
  return { kind: "unasked" };
}

/** A yes is used once: by the first answer that names it. */
function firstWith(log: readonly Entry[], approval: string): AnswerEntry | undefined {
  return log.find((entry): entry is AnswerEntry => isAnswer(entry) && entry.approved === approval);
}

export function askedEntry(
  { answer, ordinal, call }: OpenCall,
  made: { readonly item: string; readonly digest: string; readonly expiresMs: number; readonly summary: string },
): NewEntry {
  const data = { event: "asked", entryId: answer.id, ordinal, tool: call.name, ...made };
  return { type: "custom", customType: TYPE, data };
}

export function requestOf(asked: Asked, summary: string): ApprovalRequest {
  const { id, tool, expiresMs } = asked;
  return { id, tool, summary, expiresMs };
}

/**
 * A yes that came after its call had been closed so that another message could be answered: the answer that makes the call
 * again, to be appended; undefined where there is none. `heard`: the user entry of the item's message.
 */
export function approvedLate(
  log: readonly Entry[],
  {
    item,
    heard,
    by,
    nowMs,
  }: { readonly item: string; readonly heard: string; readonly by: Record<string, unknown>; readonly nowMs: number },
): NewEntry | undefined {
  for (const entry of log) {
    const asked = askedIn(entry);
    if (asked === undefined || asked.item !== item || decisionOf(log, asked.id)?.decision !== "yes") continue;
    const answer = log.find((each): each is AnswerEntry => isAnswer(each) && each.id === asked.entryId);
    const call = answer && callsOf(answer)[asked.ordinal];
    if (call === undefined || !wasHeldOpen(log, asked) || firstWith(log, asked.id) !== undefined) continue;
    const again = { ...call, id: `approved_${asked.id}` };
    const message = { role: "assistant", content: [again], ...by, stopReason: "toolUse", timestamp: nowMs };
    return { type: "message", message, answers: [heard], approved: asked.id };
  }
  return undefined;
}

/** Its call was closed because it waited, not because it was decided. */
function wasHeldOpen(log: readonly Entry[], { id, entryId, ordinal }: Asked): boolean {
  return log.some(
    (entry) =>
      isResult(entry) &&
      entry.call?.entryId === entryId &&
      entry.call.ordinal === ordinal &&
      (entry.message.details as { readonly approval?: unknown } | undefined)?.approval === id,
  );
}

export type Recorded =
  | { readonly kind: "recorded" }
  /** Somebody was first, or its time was over; that decision stands. */
  | { readonly kind: "late"; readonly decision: Decision }
  | { readonly kind: "unknown" };

/** Writes a decision into the log, durably, unless there is one. */
export async function decide(
  session: Session,
  {
    approval,
    decision,
    by,
    nowMs,
  }: { readonly approval: string; readonly decision: Decision; readonly by: string; readonly nowMs: number },
): Promise<Recorded> {
  await session.catchUp();
  const entry = await session.entry(approval);
  const asked = entry && askedIn(entry);
  if (asked === undefined) return { kind: "unknown" };
  const before = decisionOf(await session.since(approval), approval);
  if (before !== undefined) return { kind: "late", decision: before.decision };
  const counted = nowMs > asked.expiresMs ? "expired" : decision;
  const data = { event: "decided", id: approval, decision: counted, by, atMs: nowMs, digest: asked.digest };
  await session.append([{ type: "custom", customType: TYPE, data }]);
  const first = decisionOf(await session.since(approval), approval);
  if (first?.decision === decision && first.by === by) return { kind: "recorded" };
  return { kind: "late", decision: first?.decision ?? counted };
}
