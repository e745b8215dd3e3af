/**
 * Now and then, what ended actions left behind is removed (`tools.keepOutput`).
 * Invariant: never in the way: one round at a time, and a round that fails is told in the log and stops nothing.
 */
import { join } from "node:path";
import { sweepActions } from "@holdfast/agent";
import { messageOf, type World } from "@holdfast/base";
import type { Log } from "./log.ts";

const EVERY_MS = 3_600_000;

interface Sweeping {
  /** The home. */
  readonly home: string;
  readonly keepMs: number;
  readonly world: World;
  readonly log: Log;
}

/** The first round is an hour after the start. Disposing ends a round where it is. */
export function sweepEvery({ home, keepMs, world, log }: Sweeping): Disposable {
  const over = new AbortController();
  const state = { busy: false };
  const round = async (): Promise<void> => {
    if (state.busy) return;
    state.busy = true;
    try {
      const endedBeforeMs = world.nowMs() - keepMs;
      const swept = await sweepActions(join(home, "actions"), { endedBeforeMs, signal: over.signal });
      if (swept > 0) log.info("what ended actions left behind was removed", { actions: swept });
    } catch (error) {
      log.warn("what ended actions left behind was not removed", { why: messageOf(error) });
    } finally {
      state.busy = false;
    }
  };
  const timer = world.every(EVERY_MS, () => void round());
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      over.abort();
    },
  };
}
