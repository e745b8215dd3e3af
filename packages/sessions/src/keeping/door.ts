/**
 * The door `@holdfast/sessions/keeping`: transcripts as files. Verify, repair, convert, export, import, migrate, search; no
 * index and no lock is needed for what only reads, and files of other programs are read as well.
 */
export { convertTranscript } from "./convert.ts";
export { EXPORT_FORMATS, type ExportFormat, type ExportOptions, exportTranscript } from "./export.ts";
export { type Imported, type ImportPlace, type ImportRequest, importHistory } from "./import.ts";
export { flatOwner } from "./flat-name.ts";
export type { Change as RepairChange } from "./piece.ts";
export { openImportPlace } from "./place.ts";
export { type RepairOptions, type RepairReport, repairTranscript } from "./repair.ts";
export { type MigrateOpenClaw, migrateOpenClaw } from "../migrate/openclaw.ts";
export { type MigratePi, migratePi } from "../migrate/pi.ts";
export type { Carried, MigrationReport } from "../migrate/report.ts";
export { type SearchHit, type SearchOptions, type SearchResult, searchTranscript } from "../search.ts";
export {
  contextOfTranscript,
  type TranscriptNode,
  type TranscriptReport,
  type TranscriptTree,
  treeOfTranscript,
  verifyTranscript,
} from "../transcript.ts";
