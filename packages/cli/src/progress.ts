/**
 * How far long work got: one line on a terminal that is drawn over, nothing anywhere else.
 * Invariant: it is on stderr and leaves no trace when the work is done.
 */
import type { CommandContext } from "./context.ts";

/** Draws at most so often. */
const EVERY_MS = 100;

export function progressOn({ options, world }: CommandContext): (doing: string, done: number, of: number) => void {
  if (options.json || process.stderr.isTTY !== true) return () => {};
  const last = { atMs: Number.NEGATIVE_INFINITY };
  return (doing, done, of) => {
    const isEnd = done >= of;
    if (!isEnd && world.monotonicMs() - last.atMs < EVERY_MS) return;
    last.atMs = world.monotonicMs();
    const percent = of === 0 ? 100 : Math.floor((done / of) * 100);
    process.stderr.write(isEnd ? "\r\u001b[K" : `\r\u001b[K${doing} ${percent} %`);
  };
}
