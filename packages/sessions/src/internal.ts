/** What CLI and dashboard need besides the public door. */
export type { OpenCall } from "./calls.ts";
export { openSessionsOn, openTranscriptOn } from "./open.ts";
export type { Disk, DiskFile, DiskStat, OpenMode } from "./stores/file/disk.ts";
export * from "./keeping/door.ts";
export { excerptOf } from "./text.ts";
export type { Gap } from "./tree.ts";
