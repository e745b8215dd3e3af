/** The keeping of conversations as other packages use it: acts on one, and retention on all. */
export { actsOn } from "./acts.ts";
export { type AgentCleanup, cleanUpAgents } from "./retention.ts";
