/** Turns a message into entries and a reply. */
export type * from "./types.ts";
