/**
 * What a turn has cost so far, by what its providers said. Pure over the turn's log.
 * Invariant: an answer is counted once, and one without numbers counts as nothing: guesses are no bill.
 */
import { isObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import { isAnswer } from "./entries.ts";

export interface Spent {
  /** Input, cached input and output. */
  readonly tokens: number;
  /** US dollars, by the prices that are listed; 0 where none are. */
  readonly cost: number;
}

/** All answers of the log together. */
export function spentIn(log: readonly Entry[]): Spent {
  return log.filter(isAnswer).reduce<Spent>(
    (sum, { message: { usage } }) => {
      if (!isObject(usage)) return sum;
      const cost = isObject(usage.cost) ? usage.cost.total : 0;
      return { tokens: sum.tokens + amount(usage.totalTokens), cost: sum.cost + amount(cost) };
    },
    { tokens: 0, cost: 0 },
  );
}

/** Other programs write transcripts, too. */
export function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
