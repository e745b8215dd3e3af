/** Turns a message into entries and a reply. */
export { diskFolders, foldersOf } from "./actions/folder.ts";
export { sweepActions } from "./actions/sweep.ts";
export { decide, type Recorded } from "./approvals.ts";
export {
  type BootstrapPorts,
  chatText,
  COMPACTION,
  type CompactedByHand,
  type CompactionSettings,
  compactByHand,
  createRequestLog,
  diskWorkspace,
  type KeptRequest,
  keptBeside,
  type Language,
  type Rebuilding,
  type RequestReport,
  readRequests,
  rebuild,
  storedMessage,
  type TemplateLanguage,
  workspaceTemplates,
} from "./context.ts";
export { AGENT_ERRORS, AgentError, type AgentErrorCode } from "./errors.ts";
export { effectsLeft, type LedgerAction, ledgerOf, type PersonSettled, settleByPerson } from "./ledger.ts";
export * from "./models.ts";
export { type BuiltinOptions, builtinTools } from "./tools/builtin.ts";
export { type McpServers, startMcp, type ToolSink } from "./tools/mcp/servers.ts";
export type { McpServer } from "./tools/mcp/settings.ts";
export { turn } from "./turn.ts";
export type * from "./types.ts";
