/** Durable sessions: the log, the tree, the right to write. */
export type * from "./entry.ts";
export type * from "./types.ts";
