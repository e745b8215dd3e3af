/**
 * How often an item may be tried. Attempts are charged apart from claims: finding somebody else at work costs nothing, and
 * neither does a graceful stop. Progress (new answers and results in the log) earns new attempts, up to a total.
 */
import { LIMITS } from "@holdfast/base";
import type { ItemPatch, LaneItem } from "./lanes.ts";

/** The charged counters, or null when the budget is used up. */
export function charged(item: LaneItem, progress: number): ItemPatch | null {
  const attempts = item.attempts + 1;
  const idleAttempts = progress > item.progress ? 1 : item.idleAttempts + 1;
  if (attempts > LIMITS.attemptsMax || idleAttempts > LIMITS.attemptsWithoutProgressMax) return null;
  return { attempts, idleAttempts, progress };
}

/** Takes one charge back. */
export function refunded({ attempts, idleAttempts }: LaneItem): ItemPatch {
  return { attempts: Math.max(0, attempts - 1), idleAttempts: Math.max(0, idleAttempts - 1) };
}

/** Delay before try n (1-based): 1 s, doubling to 30 s. */
export function backoffMs(n: number): number {
  return Math.min(LIMITS.busyDelayMs * 2 ** Math.max(0, n - 1), LIMITS.busyDelayMaxMs);
}

/** What the delays of the first n tries add up to. */
export function waitedMs(n: number): number {
  let total = 0;
  for (let index = 1; index <= n && index <= LIMITS.turnStepsMax * 1000; index++) total += backoffMs(index);
  return total;
}
