/** What CLI, tests and other drivers need besides the public door. Heavy parts are behind it on purpose. */
export { type Checked, type ConfigProblem, checkText, jsonSchema } from "./config/check.ts";
export { configDocument } from "./config/document.ts";
export type { Channel, Outgoing } from "./channels.ts";
export { outgoingOf } from "./bodies.ts";
export { type Delivery, deliver, undelivered } from "./deliver.ts";
export { enqueue } from "./queue/enqueue.ts";
export { runningTurns } from "./queue/running.ts";
export { silentLog } from "./log.ts";
export { createTurns } from "./turns.ts";
export { type LaneCase, laneCases } from "./conformance/lanes.ts";
export {
  type AgentCleanup,
  actsOn,
  cleanUpAgents,
  type OpenClawSettings,
  settingsFromOpenClaw,
} from "./keeping.ts";
export { laneReport, waitingApprovals } from "./queue/look.ts";
export { type MemoryRows, memoryLanes, sqliteLanes, threadedLanes } from "./lane-stores/all.ts";
export type { ItemQuery, ItemState, Lane, LaneItem, LaneStore, NewLaneItem } from "./lanes.ts";
export {
  type ConfiguredModel,
  configuredModels,
  GROUPS,
  opened,
  readUsage,
  summed,
  type UsageGroup,
  type UsageSum,
} from "./models-view.ts";
