/** What other packages may use of the keeping of transcripts: repair, conversion, export, import, migration. */
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
