/**
 * Retention at start and in the background.
 * Invariant: one round at a time; a round that fails is told to whoever started it and tried again at the next time.
 */
import type { World } from "@holdfast/base";
import type { CleanupOptions, CleanupReport } from "./cleanup.ts";
import type { Keeping } from "./keep.ts";
import type { RetentionPolicy } from "./retention.ts";

export interface TidyOptions extends CleanupOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  /** Told after each round; must not throw. */
  readonly onReport: (report: CleanupReport) => void;
  readonly onError: (error: unknown) => void;
}

/** Begins now and goes on until disposed; disposal ends the round that runs at its next conversation, and waits for that. */
export function keepTidy(
  sessions: { readonly keep: Pick<Keeping, "cleanup"> },
  world: World,
  options: TidyOptions,
): AsyncDisposable {
  const { policy, everyMs, onReport, onError, signal, ...cleanup } = options;
  const over = new AbortController();
  const either = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  let running: Promise<void> | undefined;
  const round = (): void => {
    running ??= sessions.keep
      .cleanup(policy, { ...cleanup, signal: either })
      .then(onReport, onError)
      .finally(() => {
        running = undefined;
      });
  };
  const timer = world.every(everyMs, round);
  round();
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      over.abort();
      await running;
    },
  };
}
