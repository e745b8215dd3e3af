/**
 * What a reset keeps: the row of the conversation that begins when another one of the same key ends. Pure.
 *
 * A reset ends a conversation, not a person's settings: what somebody chose stays, what describes the old transcript or
 * its last run goes. Both are written out, so that nothing survives or vanishes because it was forgotten here.
 * Fields that are not known are carried through untouched, as everywhere (docs/format.md).
 */
import type { SessionRow } from "./types.ts";

type Fate = "keep" | "drop" | "keep_if_chosen";

const keep = (...fields: readonly string[]) => fields.map((field) => [field, "keep"] as const);
const drop = (...fields: readonly string[]) => fields.map((field) => [field, "drop"] as const);
const keepIfChosen = (...fields: readonly string[]) => fields.map((field) => [field, "keep_if_chosen"] as const);

/** Every field a row is known to have, ours and OpenClaw's. The identity and the times are set anew. */
export const ON_RESET: ReadonlyMap<string, Fate> = new Map<string, Fate>([
  // How it answers.
  ...keep("thinkingLevel", "fastMode", "verboseLevel", "traceLevel", "reasoningLevel", "ttsAuto", "responseUsage"),
  // Which model: only what a person chose. What a failover left behind would hold the next conversation on it for ever.
  ...keepIfChosen("providerOverride", "modelOverride", "modelOverrideSource"),
  ...keepIfChosen("authProfileOverride", "authProfileOverrideSource"),
  ...keep("agentRuntimeOverride"),
  ...drop("modelOverrideFallbackOriginProvider", "modelOverrideFallbackOriginModel", "modelProvider", "model"),
  ...drop("authProfileOverrideCompactionCount", "agentHarnessId", "liveModelSwitchPending"),
  ...drop("fallbackNoticeSelectedModel", "fallbackNoticeActiveModel", "fallbackNoticeReason"),
  // What it may do. Limits stay; raised rights end with the conversation they were given in.
  ...keep("execHost", "execSecurity", "execAsk", "execNode", "inheritedToolAllow", "inheritedToolDeny", "sendPolicy"),
  ...drop("elevatedLevel"),
  // How messages wait, and when a group is answered.
  ...keep("queueMode", "queueDebounceMs", "queueCap", "queueDrop", "groupActivation"),
  ...drop("groupActivationNeedsSystemIntro"),
  // Its name and place.
  ...keep("label", "displayName", "chatType", "channel", "groupId", "subject", "groupChannel", "space", "origin"),
  ...keep("route", "deliveryContext", "lastChannel", "lastTo", "lastAccountId", "lastThreadId"),
  // Whose child it is.
  ...keep("spawnedBy", "spawnedWorkspaceDir", "parentSessionKey", "forkedFromParent", "spawnDepth", "subagentRole"),
  ...keep("subagentControlScope", "pluginOwnerId", "heartbeatIsolatedBaseSessionKey"),
  // When the heartbeat last spoke: its rhythm belongs to the key.
  ...keep("lastHeartbeatText", "lastHeartbeatSentAt", "heartbeatTaskState"),
  // The last run.
  ...drop("status", "startedAt", "endedAt", "runtimeMs", "abortedLastRun", "systemSent", "subagentRecovery", "acp"),
  ...drop("abortCutoffMessageSid", "abortCutoffTimestamp", "quotaSuspension"),
  ...drop("cliSessionIds", "cliSessionBindings", "claudeCliSessionId"),
  // The old transcript: counters, snapshots, what was to be added to its next turn.
  ...drop("inputTokens", "outputTokens", "cacheRead", "cacheWrite", "totalTokens", "totalTokensFresh", "contextTokens"),
  ...drop("estimatedCostUsd", "compactionCount", "compactionCheckpoints", "skillsSnapshot", "systemPromptReport"),
  ...drop("memoryFlushAt", "memoryFlushCompactionCount", "memoryFlushContextHash"),
  ...drop("pluginNextTurnInjections", "pluginDebugEntries", "lastTtsReadLatestHash", "lastTtsReadLatestAt"),
  ...drop("usageFamilyKey", "usageFamilySessionIds"),
  // Replies on their way live in the outbound lane, under the entry they come from.
  ...drop("pendingFinalDelivery", "pendingFinalDeliveryText", "pendingFinalDeliveryCreatedAt"),
  ...drop("pendingFinalDeliveryLastAttemptAt", "pendingFinalDeliveryAttemptCount", "pendingFinalDeliveryLastError"),
  ...drop("pendingFinalDeliveryContext", "pendingFinalDeliveryIntentId"),
  // What plugins keep per conversation.
  ...drop("pluginExtensions", "pluginExtensionSlotKeys"),
  // Where it is put away: that is the old conversation's.
  ...drop("state", "archivedAt"),
]);

/** Who or what ended the conversation before. */
export type ResetReason = "new" | "reset" | "daily" | "idle";

/** The row of the new conversation, in state `opening`. It names the one before, so that a reset can be found and undone. */
export function afterReset(
  row: SessionRow,
  next: {
    readonly sessionId: string;
    readonly sessionFile: string;
    readonly reason: ResetReason;
    readonly nowMs: number;
  },
): SessionRow {
  const kept = Object.entries(row).filter(([field]) => isKept(field, row));
  return {
    ...Object.fromEntries(kept),
    sessionId: next.sessionId,
    sessionFile: next.sessionFile,
    state: "opening",
    sessionStartedAt: next.nowMs,
    lastInteractionAt: next.nowMs,
    updatedAt: next.nowMs,
    previousSessionId: row.sessionId,
    resetReason: next.reason,
  };
}

function isKept(field: string, row: SessionRow): boolean {
  const fate = ON_RESET.get(field) ?? "keep";
  return fate === "keep" || (fate === "keep_if_chosen" && wasChosen(field, row));
}

/** Older rows do not say who chose; there a trace of failover tells that nobody did. */
function wasChosen(field: string, row: SessionRow): boolean {
  if (field.startsWith("authProfile")) return (row.authProfileOverrideSource ?? "user") === "user";
  if (row.modelOverrideSource !== undefined) return row.modelOverrideSource === "user";
  return row.modelOverrideFallbackOriginProvider === undefined && row.modelOverrideFallbackOriginModel === undefined;
}
