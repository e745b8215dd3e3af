/**
 * A transcript as the protocol models see it: lines with a generation and a parent, and fences.
 * Invariant of the real thing that is checked here: what was acknowledged is never stale and always on the path of the leaf.
 */

export interface Line {
  readonly kind: "line" | "fence";
  readonly g: number;
  /** The hold that wrote it: one process, one time that it took the lock. */
  readonly by: string;
  /** Index of the parent, -1 for the first. A fence is never a parent. */
  readonly parent: number;
  readonly acknowledged: boolean;
}
export type Log = readonly Line[];

/** A line after a fence with a higher generation; kept, and never the leaf. */
export function isStaleAt(log: Log, index: number): boolean {
  const g = log[index]?.g ?? 0;
  return log.some((line, at) => at < index && line.kind === "fence" && line.g > g);
}

/** Index of the last line that is not stale, or -1. */
export function leafOf(log: Log): number {
  return log.findLastIndex((line, index) => line.kind === "line" && !isStaleAt(log, index));
}

export function greatestG(log: Log): number {
  return Math.max(0, ...log.map((line) => line.g));
}

/** The promise about acknowledged lines that does not hold, or null. */
export function brokenLog(log: Log): string | null {
  const path = new Set<number>();
  for (let at = leafOf(log); at >= 0; at = log[at]?.parent ?? -1) path.add(at);
  const owners = new Map<number, string>();
  for (const [index, line] of log.entries()) {
    if (!line.acknowledged) continue;
    if (isStaleAt(log, index)) return `the acknowledged line of ${line.by} is stale`;
    if (!path.has(index)) return `the acknowledged line of ${line.by} is not on the path of the leaf: lost from sight`;
    const owner = owners.get(line.g) ?? line.by;
    if (owner !== line.by) return `${owner} and ${line.by} were both acknowledged under generation ${line.g}`;
    owners.set(line.g, line.by);
  }
  return null;
}
