/**
 * What waits for a simulated clock to reach a moment. Time passes only when nobody has anything else to do.
 */
import type { SimProcess } from "./process.ts";

export interface Timer {
  readonly process: SimProcess;
  readonly dueNs: bigint;
  /** Does not keep its process running. */
  readonly isBackground: boolean;
  fire(): void;
}

export class Timers {
  readonly #waiting = new Set<Timer>();

  add(timer: Timer): Disposable {
    this.#waiting.add(timer);
    return { [Symbol.dispose]: () => void this.#waiting.delete(timer) };
  }

  /** Takes out the one that is due first; undefined when nobody is kept waiting by a timer. */
  take(): Timer | undefined {
    const waiting = [...this.#waiting].filter(({ process }) => !process.isFrozen);
    if (waiting.every(({ isBackground }) => isBackground)) return undefined;
    const first = waiting.toSorted((a, b) => Number(a.dueNs - b.dueNs))[0];
    if (first !== undefined) this.#waiting.delete(first);
    return first;
  }

  /** Fires one whose time has come; false when there is none. */
  fireDue(nowNs: bigint): boolean {
    const due = [...this.#waiting].filter(({ process, dueNs }) => dueNs <= nowNs && !process.isFrozen);
    const first = due.toSorted((a, b) => Number(a.dueNs - b.dueNs))[0];
    if (first === undefined) return false;
    this.#waiting.delete(first);
    first.fire();
    return true;
  }

  dropAll(process: SimProcess): void {
    for (const timer of this.#waiting) if (timer.process === process) this.#waiting.delete(timer);
  }
}
