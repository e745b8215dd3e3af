/** What CLI, tests and other drivers need besides the public door. Heavy parts are behind it on purpose. */
export { type Checked, type ConfigProblem, checkText, jsonSchema } from "./config/check.ts";
export { configDocument } from "./config/document.ts";
export { type LaneCase, laneCases } from "./conformance/lanes.ts";
export { laneReport, waitingApprovals } from "./queue/look.ts";
export { memoryLanes } from "./lane-stores/memory.ts";
export { sqliteLanes } from "./lane-stores/sqlite.ts";
export type { ItemQuery, ItemState, Lane, LaneItem, LaneStore, NewLaneItem } from "./lanes.ts";
