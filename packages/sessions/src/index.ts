/** Durable sessions: the log, the tree, the right to write. */
export type * from "./entry.ts";
export type * from "./types.ts";
export { answerAgain, branchWithSummary, editAndResend, editContext, labelEntry, renameSession } from "./acts.ts";
export { type Branches, branchesOf } from "./branches.ts";
export {
  type Chosen,
  type CleanupOptions,
  type CleanupReport,
  type ForkPoint,
  type Forked,
  isBackground,
  type Keeping,
  type KeptWhy,
  keepTidy,
  type Purge,
  type PutAway,
  RETENTION,
  requestsPath,
  type Reset,
  type RetentionPolicy,
  type TidyOptions,
} from "./keeping.ts";
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
export { afterReset, type ResetReason } from "./carry-over.ts";
export {
  afterBackgroundTurn,
  afterHumanMessage,
  explainLookUp,
  type LookUp,
  type LookUpFacts,
  lookUp,
} from "./lifecycle.ts";
export {
  checkResetSettings,
  type ResetFields,
  type ResetMode,
  type ResetPolicy,
  type ResetSettings,
  resetPolicy,
} from "./reset-policy.ts";
export { isTimezone, machineTimezone } from "./wall-clock.ts";
export { approximateTextTokens, approximateTokens } from "./tokens.ts";
export { memorySessions, type OpenTranscriptOptions, openSessions, openTranscript } from "./open.ts";
export type {
  CommitRequest,
  Committed,
  FirstEntries,
  LogRef,
  LogStore,
  Position,
  Reading,
  SessionStore,
  Since,
  StoredLog,
} from "./store.ts";
