/** The lane stores there are: in memory for tests, in SQLite with and without a thread of its own. */
export { type MemoryRows, memoryLanes } from "./memory.ts";
export { sqliteLanes, threadedLanes } from "./sqlite.ts";
