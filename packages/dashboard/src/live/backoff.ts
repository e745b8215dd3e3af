/** Waiting between attempts: longer each time, until something has worked or somebody is in a hurry. */
import type { Clock } from "./outside.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export class Backoff {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #hurry: () => AbortSignal;
  #next = FIRST_PAUSE_MS;

  /** `hurry`: the signal that ends the present pause, and begins anew with a short one. */
  constructor(clock: Clock, signal: AbortSignal, hurry: () => AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#hurry = hurry;
  }

  reset(): void {
    this.#next = FIRST_PAUSE_MS;
  }

  async pause(): Promise<void> {
    const ms = this.#next;
    this.#next = Math.min(ms * 2, LONGEST_PAUSE_MS);
    const hurry = this.#hurry();
    await this.#clock.pause(ms, AbortSignal.any([this.#signal, hurry]));
    if (hurry.aborted) this.reset();
  }
}
