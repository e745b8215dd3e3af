/** The keeping of conversations as other packages use it: acts on one, retention on all, and settings that come with a history. */
export { type OpenClawSettings, settingsFromOpenClaw } from "./config/from-openclaw.ts";
export { actsOn } from "./acts.ts";
export { type AgentCleanup, cleanUpAgents } from "./retention.ts";
