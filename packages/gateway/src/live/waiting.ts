/** Whoever waits in this process for an item to end. A hint to look again, never the answer itself. */

export interface Waiting {
  /** Wakes those who wait for this item. */
  notify(itemId: string): void;
  /** Resolves at the next notice, or rejects with the signal's reason. Register before looking, or a notice is missed. */
  next(itemId: string, signal: AbortSignal): Promise<void>;
}

export function createWaiting(): Waiting {
  const waiters = new Map<string, Set<() => void>>();
  return {
    notify(itemId) {
      const woken = waiters.get(itemId) ?? [];
      waiters.delete(itemId);
      for (const wake of woken) wake();
    },
    next(itemId, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal.aborted) return Promise.reject(signal.reason);
      const waiting = waiters.get(itemId) ?? new Set();
      const leave = () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && waiters.get(itemId) === waiting) waiters.delete(itemId);
        reject(signal.reason);
      };
      waiters.set(itemId, waiting.add(resolve));
      signal.addEventListener("abort", leave, { once: true });
      return promise.finally(() => signal.removeEventListener("abort", leave));
    },
  };
}
