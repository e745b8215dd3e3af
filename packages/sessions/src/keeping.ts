/** What the public door shows of the keeping of whole conversations, listed by hand. */
export { requestsPath } from "./beside.ts";
export type { ForkPoint } from "./fork.ts";
export type { CleanupOptions, CleanupReport } from "./keeping/cleanup.ts";
export type { Forked, Keeping, Reset } from "./keeping/keep.ts";
export type { Purge } from "./keeping/purge.ts";
export type { KeptWhy, PutAway } from "./keeping/put-away.ts";
export { type Chosen, isBackground, RETENTION, type RetentionPolicy } from "./keeping/retention.ts";
export { keepTidy, type TidyOptions } from "./keeping/tidy.ts";
