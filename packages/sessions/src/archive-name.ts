/**
 * Names of transcripts that were put away: `archive/<sessionId>.<reason>.<time>.jsonl`, packed ones with `.gz`. Pure.
 * Invariant: a row names the file without `.gz`, so that packing it changes no row.
 */
import { isSessionId } from "./key.ts";

/** Why a transcript was put away. `orphan`: no row named it. `purge`: it only says that something was destroyed. */
export type ClosedReason = "archive" | "retention" | "reset" | "clear" | "orphan" | "purge";

export interface ArchivedName {
  readonly id: string;
  readonly reason: string;
  /** When it was put away, milliseconds since 1970. */
  readonly atMs: number;
}

const FOLDER = "archive/";
const NAME = /^archive\/([^./]+)\.([a-z]+)\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.jsonl$/;

/** The file of a live conversation. */
export function liveFile(id: string): string {
  return `${id}.jsonl`;
}

export function archivedFile({ id, reason, atMs }: ArchivedName): string {
  const time = new Date(atMs).toISOString().replace(/[-:.]/g, "");
  return `${FOLDER}${id}.${reason}.${time}.jsonl`;
}

/** What a file's name says, or undefined when it is not the name of an archived transcript. */
export function parseArchived(file: string): ArchivedName | undefined {
  const [, id, reason, year, month, day, hour, minute, second, ms] = NAME.exec(file) ?? [];
  if (reason === undefined || !isSessionId(id)) return undefined;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isFinite(atMs) ? { id, reason, atMs } : undefined;
}

/** Whether its key still stands for it, so that a message opens it again. The others were ended. */
export function comesBack(reason: string): boolean {
  return reason === "archive" || reason === "retention";
}
