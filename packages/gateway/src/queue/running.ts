/**
 * The turns at work in this process, so that a stop reaches them at once.
 * Never what a promise rests on: the stop is in the lane, and a turn that was not reached finds it there.
 */
export interface RunningTurns {
  /** Until disposed, `prod` of this key aborts the signal. */
  enter(sessionKey: string): { readonly signal: AbortSignal } & Disposable;
  prod(sessionKey: string, reason: Error): void;
  has(sessionKey: string): boolean;
}

export function runningTurns(): RunningTurns {
  const turns = new Map<string, Set<AbortController>>();
  return {
    enter(sessionKey) {
      const turn = new AbortController();
      const others = turns.get(sessionKey) ?? new Set();
      turns.set(sessionKey, others.add(turn));
      return {
        signal: turn.signal,
        [Symbol.dispose]() {
          others.delete(turn);
          if (others.size === 0 && turns.get(sessionKey) === others) turns.delete(sessionKey);
        },
      };
    },
    prod(sessionKey, reason) {
      for (const turn of turns.get(sessionKey) ?? []) turn.abort(reason);
    },
    has: (sessionKey) => turns.has(sessionKey),
  };
}
