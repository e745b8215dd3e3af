/** Worlds for tests: the real one, with a clock that can be moved on. */
import { realWorld, type World } from "@holdfast/base";

export interface MovableWorld extends World {
  advance(ms: number): void;
}

export function movableWorld(at: (point: string) => void = () => {}): MovableWorld {
  const real = realWorld(at);
  let aheadMs = 0;
  return {
    ...real,
    nowMs: () => real.nowMs() + aheadMs,
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}
