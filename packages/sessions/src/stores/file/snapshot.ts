/**
 * The text of the index, pure: `sessions.json` (valid JSON, one row a line) and the journal lines beside it.
 * Invariant: a row that cannot be read never takes the others with it; it is handed back as it stood.
 */
import { isObject, tryParse } from "@holdfast/base";
import { isSessionId } from "../../key.ts";
import type { SessionRow } from "../../types.ts";

export type Rows = Map<string, SessionRow>;

/** A row that cannot be used, with the reason, for the report. */
export interface BrokenRow {
  readonly key: string;
  readonly why: string;
}

export interface ParsedSnapshot {
  readonly rows: Rows;
  readonly broken: readonly BrokenRow[];
  /** False when the text as a whole is no JSON: then a missing row proves nothing. */
  readonly whole: boolean;
}

export type JournalLine =
  | { readonly kind: "row"; readonly key: string; readonly row: SessionRow | null }
  | { readonly kind: "snapshot"; readonly hash: string }
  | { readonly kind: "broken"; readonly text: string };

/** The row, or why it is none. A missing `sessionFile` is derived from the id, as older writers left it out. */
function rowOf(value: unknown): SessionRow | string {
  if (!isObject(value)) return "it is not an object";
  if (typeof value.sessionId !== "string") return "it has no sessionId";
  if (!isSessionId(value.sessionId)) return "its sessionId is not a valid id";
  const sessionFile = typeof value.sessionFile === "string" ? value.sessionFile : `${value.sessionId}.jsonl`;
  return { ...value, sessionId: value.sessionId, sessionFile };
}

/** One line of the snapshot, with the comma that separates it from the next. */
export function encodeSnapshotRow(key: string, row: SessionRow, last: boolean): string {
  return `${JSON.stringify(key)}: ${JSON.stringify(row)}${last ? "" : ","}\n`;
}

/** Reads the whole text; if that is damaged, every line for itself. */
export function parseSnapshot(text: string): ParsedSnapshot {
  const whole = tryParse(text.replace(/^\uFEFF/, ""));
  const rows: Rows = new Map();
  const broken: BrokenRow[] = [];
  if (!isObject(whole)) for (const line of text.split("\n")) takeSnapshotLine(line, { rows, broken });
  else for (const [key, value] of Object.entries(whole)) takeRow(key, value, { rows, broken });
  return { rows, broken, whole: isObject(whole) };
}

/** Rows as they are read, and those that cannot be used. */
interface Taken {
  readonly rows: Rows;
  readonly broken: BrokenRow[];
}

/** Takes in one line of a snapshot that has one row a line, as ours have. */
export function takeSnapshotLine(line: string, into: Taken): void {
  for (const [key, value] of lineOf(line, into.broken)) takeRow(key, value, into);
}

function takeRow(key: string, value: unknown, { rows, broken }: Taken): void {
  const row = rowOf(value);
  if (typeof row === "string") broken.push({ key, why: row });
  else rows.set(key, row);
}

function lineOf(line: string, broken: BrokenRow[]): [string, unknown][] {
  const text = line.trim().replace(/,$/, "");
  if (text === "" || text === "{" || text === "}") return [];
  const pair = tryParse(`{${text}}`);
  if (isObject(pair)) return Object.entries(pair);
  broken.push({ key: /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? "?", why: "the line is not JSON" });
  return [];
}

export function encodeJournalRow(key: string, row: SessionRow | null, atMs: number): string {
  return `${JSON.stringify({ key, entry: row, at: atMs })}\n`;
}

/** Names a snapshot that we wrote: any other was edited by hand. */
export function encodeJournalSnapshot(size: number, hash: string): string {
  return `${JSON.stringify({ snapshot: { size, hash } })}\n`;
}

export function parseJournalLine(text: string): JournalLine {
  // A run of NULs before a line is what a power loss leaves of another one.
  const value = tryParse(text.replace(/^\0+/, ""));
  if (!isObject(value)) return { kind: "broken", text };
  if (isObject(value.snapshot) && typeof value.snapshot.hash === "string") {
    return { kind: "snapshot", hash: value.snapshot.hash };
  }
  if (typeof value.key !== "string") return { kind: "broken", text };
  if (value.entry === null) return { kind: "row", key: value.key, row: null };
  const row = rowOf(value.entry);
  return typeof row === "string" ? { kind: "broken", text } : { kind: "row", key: value.key, row };
}
