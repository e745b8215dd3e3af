/**
 * What a failure of a model leads to, as data: who is asked next, and who rests how long.
 *
 * Invariant: a request that is itself at fault makes nobody rest, so one conversation can never silence a key that others use.
 */
import type { ModelFailure, ModelFailureCode } from "../../types.ts";

/** Who is asked next: the same model with another key, another model, or nobody. */
export type Next = "credential" | "model" | "nobody";

interface Rule {
  readonly next: Next;
  /** What rests: the key everywhere, the key for this model, or nothing. */
  readonly rests: "credential" | "pair" | "nothing";
  /** The first rest, doubled at each failure in a row, up to the second number. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** Nobody asks while it lasts; else it is only asked after those that do not rest. */
  readonly hard: boolean;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const passing: Omit<Rule, "next"> = { rests: "pair", firstMs: 30 * SECOND, mostMs: 5 * MINUTE, hard: false };
const none: Omit<Rule, "next"> = { rests: "nothing", firstMs: 0, mostMs: 0, hard: false };

export const RULES: Readonly<Record<ModelFailureCode, Rule>> = {
  rate_limited: { next: "credential", ...passing },
  overloaded: { next: "model", ...passing },
  timeout: { next: "model", ...passing },
  connection: { next: "model", ...passing },
  auth: { next: "credential", rests: "credential", firstMs: 10 * MINUTE, mostMs: HOUR, hard: true },
  billing: { next: "credential", rests: "credential", firstMs: 5 * HOUR, mostMs: 24 * HOUR, hard: true },
  bad_answer: { next: "model", ...none },
  unknown: { next: "model", ...none },
  not_set_up: { next: "model", ...none },
  // Another model would be asked the same: these need another request.
  bad_request: { next: "nobody", ...none },
  context_overflow: { next: "nobody", ...none },
  content_filter: { next: "nobody", ...none },
};

/** After so many failures in a row nobody asks until the rest is over. */
const FAILURES_TO_OPEN = 5;

export interface Rest {
  readonly failures: number;
  readonly untilMs: number;
  readonly hard: boolean;
  readonly code: ModelFailureCode;
  /** When it failed last. */
  readonly atMs: number;
}

/** The rest that follows, or undefined; a provider that says when to come back is believed. */
export function restAfter(failure: ModelFailure, before: Rest | undefined, nowMs: number): Rest | undefined {
  const rule = RULES[failure.code];
  if (rule.rests === "nothing") return undefined;
  const failures = (before?.failures ?? 0) + 1;
  const said = failure.code === "rate_limited" ? failure.retryAfterMs : null;
  const ownMs = Math.min(rule.firstMs * 2 ** (failures - 1), rule.mostMs);
  const hard = rule.hard || said !== null || failures >= FAILURES_TO_OPEN;
  return { failures, untilMs: nowMs + (said ?? ownMs), hard, code: failure.code, atMs: nowMs };
}
