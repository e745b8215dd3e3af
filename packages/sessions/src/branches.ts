/**
 * The branches of a conversation as people see them, all at once; `session.tree` gives the same in pages.
 * Invariant: it tells of the log as it is when asked; looking moves nothing.
 */
import type { BranchChild, BranchEnd, Session } from "./types.ts";

export interface Branches {
  /** All ends in file order, and where the conversation stands even if more was said below. */
  leaves(): Promise<readonly BranchEnd[]>;
  /** What was said next after an entry, on all branches, in file order; null: what was said first. Throws `entry_missing`. */
  childrenOf(id: string | null): Promise<readonly BranchChild[]>;
  /** The last entry that both are on the way from the root to, or null. Throws `entry_missing`. */
  commonAncestor(a: string, b: string): Promise<string | null>;
}

const ALL = { limit: Number.POSITIVE_INFINITY };

export function branchesOf({ tree }: Session): Branches {
  return {
    leaves: () => tree.ends(ALL),
    childrenOf: (id) => tree.saidAfter(id, ALL),
    commonAncestor: async (a, b) => (await tree.commonAncestor(a, b))?.id ?? null,
  };
}
