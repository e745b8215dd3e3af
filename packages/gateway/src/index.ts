/** The door to the world. */
export type * from "./wire/index.ts";
