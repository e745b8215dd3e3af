/** What the public door shows of the context, listed by hand. */
export { diskWorkspace } from "./context/bootstrap/files.ts";
export type { BootstrapPorts } from "./context/bootstrap/inject.ts";
export { keptBeside } from "./context/bootstrap/kept.ts";
export { type TemplateLanguage, workspaceTemplates } from "./context/bootstrap/templates.ts";
export { COMPACTION, type CompactedByHand, compactByHand } from "./context/compaction/by-hand.ts";
export type { CompactionSettings } from "./context/compaction/compact.ts";
export { type KeptRequest, type Rebuilding, rebuild } from "./context/report/format.ts";
export type { RequestReport } from "./context/report/report.ts";
export { chatText, type Language } from "./context/report/words.ts";
export { createRequestLog, readRequests, storedMessage } from "./context/report/request-log.ts";
