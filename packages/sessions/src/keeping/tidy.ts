/**
 * Retention at start and in the background.
 * Invariant: one round at a time; a round that fails is told to whoever started it and tried again at the next time.
 */
import type { World } from "@holdfast/base";
import type { Sessions } from "../types.ts";
import type { CleanupReport } from "./cleanup.ts";
import type { RetentionPolicy } from "./retention.ts";

export interface TidyOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  /** Only report what would be done. */
  readonly dryRun?: boolean;
  /** Told after each round; must not throw. */
  readonly onReport: (report: CleanupReport) => void;
  readonly onError: (error: unknown) => void;
}

/** Begins now and goes on until disposed; disposal waits for the round that runs. */
export function keepTidy(sessions: Pick<Sessions, "keep">, world: World, options: TidyOptions): AsyncDisposable {
  const { policy, everyMs, dryRun = false, onReport, onError } = options;
  let running: Promise<void> | undefined;
  const round = (): void => {
    running ??= sessions.keep
      .cleanup(policy, { dryRun })
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
      await running;
    },
  };
}
