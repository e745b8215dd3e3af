/**
 * Callers of `append` in the order they came, and one thing at a time for everything that touches the log.
 * Invariant: whoever waits under the same right when a commit begins shares it; nobody overtakes.
 */
import type { NewEntry } from "./entry.ts";
import type { Appended, AppendOptions, Right } from "./types.ts";

/** One caller, waiting. Exactly one of `resolve` and `reject` is called, once. */
export interface Waiting {
  readonly entries: readonly NewEntry[];
  readonly right: Right | undefined;
  readonly sync: boolean;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

export class AppendQueue {
  readonly #write: (batch: readonly Waiting[]) => Promise<void>;
  readonly #waiting: Waiting[] = [];
  #work: Promise<unknown> = Promise.resolve();

  /** `write` answers every caller of its batch, or rejects: then all that are left get its error. */
  constructor(write: (batch: readonly Waiting[]) => Promise<void>) {
    this.#write = write;
  }

  add(entries: readonly NewEntry[], options: AppendOptions): Promise<Appended> {
    const { right, sync = false } = options;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, right, sync, resolve, reject });
      // A commit's failure is told to its callers; there is nobody else to tell.
      this.run(() => this.#flush()).catch(() => {});
    });
  }

  /** Runs `work` when everything asked for before is done, well or badly. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work, work);
    this.#work = done;
    return done;
  }

  async settled(): Promise<void> {
    await this.#work.catch(() => {});
  }

  async #flush(): Promise<void> {
    const t = this.#waiting[0]?.right?.t;
    const others = this.#waiting.findIndex((one) => one.right?.t !== t);
    const batch = this.#waiting.splice(0, others === -1 ? this.#waiting.length : others);
    if (batch.length === 0) return;
    try {
      await this.#write(batch);
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
  }
}
