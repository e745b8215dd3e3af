/**
 * What stays open of a transcript between two holds of its write lock: the lock file and the transcript itself, so that a
 * commit does not open and close five files.
 *
 * Open is not locked: the lock is taken and released for each hold, and whether a path still leads to what is open is
 * asked each time. Invariant: after any error both are closed, so a descriptor whose write or sync failed is never used
 * again; no more than a fixed number of transcripts is open, and none that nobody wrote to for a while.
 */
import type { KeptLock } from "@holdfast/base";
import type { DiskFile, Place } from "./disk.ts";

/** The files of one transcript, in the hands of whoever holds its lock or is about to. */
export interface Kept {
  /** Undefined: nothing may stay open here. */
  readonly lock: KeptLock | undefined;
  /** Open for appending. */
  log: OpenLog | undefined;
  /** No index lay beside the transcript when it was looked for last: until then (monotonic) it is not looked for again. */
  noIndexUntilMs: number;
  readonly run: Run;
}

/** Holds of one lock by this process, one right after the other (monotonic): when the first began, and the last ended. */
export interface Run {
  sinceMs: number;
  lastMs: number;
}

export const noRun = (): Run => ({ sinceMs: Number.NEGATIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY });

export interface OpenLog {
  readonly handle: DiskFile;
  readonly dev: bigint;
  readonly ino: bigint;
}

const KEPT_MAX = 128;
const IDLE_MS = 2_000;

export class KeptFiles {
  readonly #place: Place;
  /** The one given back last comes last. */
  readonly #kept = new Map<string, Kept>();
  /** Those that were given back since the last look. */
  readonly #used = new Set<string>();
  #look: Disposable | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  has(path: string): boolean {
    return this.#kept.has(path);
  }

  /** The files of the transcript at `path`, for the caller alone until they are given back or closed. */
  take(path: string): Kept {
    const kept = this.#kept.get(path);
    this.#kept.delete(path);
    return (
      kept ?? { lock: this.#place.disk.locks.keep?.(`${path}.lock`), log: undefined, noIndexUntilMs: 0, run: noRun() }
    );
  }

  giveBack(path: string, kept: Kept): void {
    if (kept.lock === undefined) return;
    this.#kept.set(path, kept);
    this.#used.add(path);
    this.#look ??= this.#place.world.every(IDLE_MS, () => this.#closeIdle());
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) void this.#close(oldest);
  }

  /** An index was put beside the transcript at `path`. */
  indexMade(path: string): void {
    const kept = this.#kept.get(path);
    if (kept !== undefined) kept.noIndexUntilMs = 0;
  }

  /** Closes what nobody uses right now. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((path) => this.#close(path)));
  }

  #closeIdle(): void {
    for (const path of this.#kept.keys()) if (!this.#used.has(path)) void this.#close(path);
    this.#used.clear();
    if (this.#kept.size > 0) return;
    this.#look?.[Symbol.dispose]();
    this.#look = undefined;
  }

  #close(path: string): Promise<void> {
    const kept = this.take(path);
    return closeKept(kept);
  }
}

/** Never throws: nothing that anybody was told depends on how a descriptor ends. */
export async function closeKept(kept: Kept): Promise<void> {
  const { log } = kept;
  kept.log = undefined;
  kept.lock?.close();
  await log?.handle.close().catch(() => {});
}
