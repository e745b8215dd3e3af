/**
 * How long a provider may be silent. The library waits for ever once the headers are there, so somebody has to watch.
 * Invariant: every wait for a provider has an end; without it one stalled stream would hold its session's lane.
 */
import type { World } from "@holdfast/base";

export interface PatienceLimits {
  /** From the request to the response's headers; servers that queue send them late. */
  readonly headersMs: number;
  /** From the headers to the first event. */
  readonly firstTokenMs: number;
  /** Between two events. Comments that only keep the connection open do not count. */
  readonly idleMs: number;
  /** The whole answer. */
  readonly totalMs: number;
}
export type Limit = keyof PatienceLimits;

export const PATIENCE: PatienceLimits = {
  headersMs: 120_000,
  firstTokenMs: 180_000,
  idleMs: 120_000,
  totalMs: 900_000,
};

export interface Watch extends Disposable {
  /** The provider got this far: the limit that counts from now on. */
  reached(waitingFor: Exclude<Limit, "totalMs">): void;
}

/** Calls `expired` once, as soon as a limit has passed; not after it was disposed. */
export function watch(world: World, limits: PatienceLimits, expired: (limit: Limit) => void): Watch {
  const ended = new AbortController();
  const startedMs = world.monotonicMs();
  const totalUntilMs = startedMs + limits.totalMs;
  const current: { limit: Limit; untilMs: number } = { limit: "headersMs", untilMs: startedMs + limits.headersMs };
  // Never asleep for longer than the shortest limit, so a limit that begins meanwhile is not overslept.
  const napMs = Math.min(...Object.values(limits));
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      const due = current.untilMs < totalUntilMs ? current : { limit: "totalMs" as const, untilMs: totalUntilMs };
      const leftMs = due.untilMs - world.monotonicMs();
      if (leftMs <= 0) return expired(due.limit);
      await world.sleep(Math.min(leftMs, napMs), ended.signal);
    }
  };
  run().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });
  return {
    reached(waitingFor) {
      current.limit = waitingFor;
      current.untilMs = world.monotonicMs() + limits[waitingFor];
    },
    [Symbol.dispose]: () => ended.abort(),
  };
}
