/** Durable sessions: the log, the tree, the right to write. */
export type * from "./entry.ts";
export type * from "./types.ts";
export {
  fieldsOf,
  isAssistant,
  isBranchSummary,
  isCompaction,
  isCustom,
  isCustomMessage,
  isMessage,
  isToolResult,
  toolCallsOf,
} from "./entry.ts";
export { SESSION_ERRORS, SessionError, type SessionErrorCode } from "./errors.ts";
export {
  checkSessionId,
  formatSessionKey,
  isSessionId,
  isSessionKey,
  parseSessionKey,
  type SessionKey,
} from "./key.ts";
export { type ProjectOptions, project, type Settings } from "./projection.ts";
export { approximateTextTokens, approximateTokens } from "./tokens.ts";
export { memorySessions, type OpenTranscriptOptions, openSessions, openTranscript } from "./open.ts";
export type { CommitRequest, Committed, LogRef, LogStore, Position, Reading, SessionStore, Since } from "./store.ts";
