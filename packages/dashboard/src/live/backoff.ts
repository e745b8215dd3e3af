/** Waiting between attempts: longer each time, until something has worked. */
import type { Clock } from "./outside.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export class Backoff {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #next = FIRST_PAUSE_MS;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  reset(): void {
    this.#next = FIRST_PAUSE_MS;
  }

  async pause(): Promise<void> {
    const ms = this.#next;
    this.#next = Math.min(ms * 2, LONGEST_PAUSE_MS);
    await this.#clock.pause(ms, this.#signal);
  }
}
