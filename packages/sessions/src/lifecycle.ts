/**
 * The life of a conversation: whether a message finds it new, resumed, due for a reset or abnormal, and how its times move.
 *
 * Pure, and decided from the row alone: no byte of a transcript is read.
 * Invariant: only a person's message extends a life or ends one. Background work (heartbeats, schedules, system events)
 * moves `updatedAt` and nothing else; otherwise a daily reset would never come, or would come from a heartbeat.
 */
import { assertNever } from "@holdfast/base";
import { parseSessionKey } from "./key.ts";
import type { ResetPolicy } from "./reset-policy.ts";
import type { SessionRow } from "./types.ts";
import { nextDaily } from "./wall-clock.ts";

/** What a look-up found, and why. Instants are milliseconds since 1970. */
export type LookUp =
  | { readonly kind: "new"; readonly reason: "no_row" | "never_begun" }
  | {
      readonly kind: "resumed";
      /** `unknown_age`: a policy applies, but the row has no time that it could be applied to. */
      readonly reason: "fresh" | "no_policy" | "background" | "unknown_age";
      /** When the next message of a person will find it due for a reset; null: never, or not known. */
      readonly resetAtMs: number | null;
    }
  | { readonly kind: "reset"; readonly reason: "daily" | "idle"; readonly dueAtMs: number }
  | { readonly kind: "abnormal"; readonly reason: "failed" | "timeout" | "killed" | "interrupted" };

export interface LookUpFacts {
  readonly key: string;
  readonly row: SessionRow | undefined;
  readonly policy: ResetPolicy;
  /** Whose message it is. Background work never resets. */
  readonly by: "person" | "background";
  readonly nowMs: number;
  /** Whether a live holder has the turn right; asked only of subagents that are `running`. */
  readonly leaseLive: boolean;
  /** Whether the transcript is there; asked only of rows in state `opening`. */
  readonly fileThere: boolean;
}

export function lookUp(facts: LookUpFacts): LookUp {
  const { key, row, policy, by, nowMs } = facts;
  if (row === undefined) return { kind: "new", reason: "no_row" };
  if (row.state === "opening" && !facts.fileThere) return { kind: "new", reason: "never_begun" };
  const broken = isSubagent(key) ? brokenRun(row, facts.leaseLive) : undefined;
  if (broken !== undefined) return { kind: "abnormal", reason: broken };
  const due = resetDue(row, policy, nowMs);
  const resetAtMs = due?.dueAtMs ?? null;
  if (by === "background") return { kind: "resumed", reason: "background", resetAtMs };
  if (policyIsOff(policy)) return { kind: "resumed", reason: "no_policy", resetAtMs };
  if (due === undefined) return { kind: "resumed", reason: "unknown_age", resetAtMs };
  return due.dueAtMs <= nowMs ? { kind: "reset", ...due } : { kind: "resumed", reason: "fresh", resetAtMs };
}

function isSubagent(key: string): boolean {
  return parseSessionKey(key).place.kind === "subagent";
}

/** Of a main session the status only informs: `running` on disk is not a live process and never blocks anybody. */
function brokenRun(row: SessionRow, leaseLive: boolean): (LookUp & { kind: "abnormal" })["reason"] | undefined {
  if (row.status === "running") return leaseLive ? undefined : "interrupted";
  return row.status === "failed" || row.status === "timeout" || row.status === "killed" ? row.status : undefined;
}

function policyIsOff({ mode, idleMs }: ResetPolicy): boolean {
  return mode === "none" || (mode === "idle" && idleMs === null);
}

/** The reset that comes (or came) first, or undefined where none can be computed. */
function resetDue(
  row: SessionRow,
  policy: ResetPolicy,
  nowMs: number,
): { readonly reason: "daily" | "idle"; readonly dueAtMs: number } | undefined {
  const { startedAt, lastAt } = agesOf(row, nowMs);
  const daily =
    startedAt === undefined || policy.mode === "none" || policy.mode === "idle"
      ? Number.POSITIVE_INFINITY
      : nextDaily(policy.timezone, policy.atHour, startedAt);
  const idle =
    lastAt === undefined || policy.mode === "none" || policy.mode === "daily"
      ? Number.POSITIVE_INFINITY
      : lastAt + (policy.idleMs ?? Number.POSITIVE_INFINITY);
  const dueAtMs = Math.min(daily, idle);
  if (dueAtMs === Number.POSITIVE_INFINITY) return undefined;
  return { reason: daily <= idle ? "daily" : "idle", dueAtMs };
}

/**
 * When it began and when a person last wrote, as well as the row knows. Old rows lack times: the nearest other one stands in,
 * `updatedAt` last. A time ahead of the clock counts as now: a clock that was set back must not end a conversation, and
 * the next write puts a true time in its place, so that a wrong one keeps nothing alive.
 */
function agesOf(row: SessionRow, nowMs: number): { readonly startedAt?: number; readonly lastAt?: number } {
  const [started, last, updated] = [row.sessionStartedAt, row.lastInteractionAt, row.updatedAt].map((time) =>
    isInstant(time) ? Math.min(time, nowMs) : undefined,
  );
  const startedAt = started ?? last ?? updated;
  const lastAt = last ?? started ?? updated;
  return startedAt === undefined || lastAt === undefined ? {} : { startedAt, lastAt };
}

function isInstant(time: unknown): time is number {
  return typeof time === "number" && Number.isFinite(time) && time > 0;
}

/** A real person's message was taken in. */
export function afterHumanMessage(row: SessionRow, nowMs: number): SessionRow {
  const { startedAt = nowMs } = agesOf(row, nowMs);
  return { ...row, sessionStartedAt: startedAt, lastInteractionAt: nowMs, updatedAt: nowMs };
}

/** Anything else was written. Times that were missing are settled now, before `updatedAt`, which may stand in for them, moves. */
export function afterBackgroundTurn(row: SessionRow, nowMs: number): SessionRow {
  const { startedAt, lastAt } = agesOf(row, nowMs);
  if (startedAt === undefined || lastAt === undefined) return { ...row, updatedAt: nowMs };
  return { ...row, sessionStartedAt: startedAt, lastInteractionAt: lastAt, updatedAt: nowMs };
}

/** One sentence for people: what was found, by which rule, and which setting that rule comes from. */
export function explainLookUp(found: LookUp, policy: ResetPolicy): string {
  switch (found.kind) {
    case "new":
      return found.reason === "no_row" ? "New: this key had no conversation." : "New: it was named but never begun.";
    case "abnormal":
      return `Abnormal: the last run ${RUN_ENDED[found.reason]}. It is not taken up by itself; a new message opens it.`;
    case "reset":
      return `Reset: ${ruleOf(found.reason, policy)}; due since ${timeOf(found.dueAtMs)}.`;
    case "resumed":
      return `Resumed: ${WHY_RESUMED[found.reason]}${found.resetAtMs === null ? "" : `; reset due ${timeOf(found.resetAtMs)}`}.`;
    default:
      return assertNever(found);
  }
}

const RUN_ENDED = { failed: "failed", timeout: "ran out of time", killed: "was killed", interrupted: "broke off" };
const WHY_RESUMED = {
  fresh: "no reset is due",
  no_policy: "no reset is configured",
  background: "background work goes on where it is",
  unknown_age: "its age is not known",
};

function ruleOf(reason: "daily" | "idle", { atHour, timezone, idleMs, from }: ResetPolicy): string {
  const settings = [...new Set([from.mode, reason === "daily" ? from.atHour : from.idle])].join(", ");
  return reason === "daily"
    ? `daily at ${atHour}:00 in ${timezone} (${settings})`
    : `idle for ${Math.round(Number(idleMs) / 60_000)} min (${settings})`;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
