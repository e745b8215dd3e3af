/**
 * OpenClaw's SQLite store (2026.7 on; schema up to 23): rows from `session_nodes`, transcripts from `transcript_events`.
 *
 * The database and its write-ahead log are copied first and the copy is opened: opening the original, even for reading
 * only, would make files beside it.
 * Invariant: the source is only read, byte for byte; a column that this version does not have is simply not asked for.
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { isObject, makePrivateDirectory, sha256, tryParse } from "@holdfast/base";
import { archivedFile } from "../archive-name.ts";
import type { ImportPlace } from "../keeping/import.ts";
import { NewFile } from "../keeping/new-file.ts";
import { coldStorage } from "./openclaw-cold.ts";
import { isFile } from "../reading/packed.ts";
import type { MigrationNotes } from "./report.ts";

/** A conversation that was found: its row, and how to get its transcript as a file. */
export interface FoundSession {
  readonly source: string;
  readonly key: string;
  readonly row: Readonly<Record<string, unknown>>;
  /** The transcript's path; it may be a temporary one. */
  write(): Promise<string>;
  /** Where the conversation stands, when the store says so. */
  readonly leaf?: string | null;
}

/** Where transcripts from a database wait to be imported. */
export function scratchFolder(place: ImportPlace): string {
  return join(place.directory, ".migrating");
}

type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * Rows with the transcripts of their current sessions, as files in `.migrating` (the caller removes it); earlier sessions
 * of a key and stored archives go to `archive/`.
 */
export async function readDatabase(
  { path, sessionsFolder }: { readonly path: string; readonly sessionsFolder: string },
  place: ImportPlace,
  notes: MigrationNotes,
): Promise<FoundSession[]> {
  const scratch = await mkdtemp(join(tmpdir(), "holdfast-migrate-"));
  try {
    const copy = await copyDatabase(path, scratch);
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(copy);
    try {
      return await sessionsIn(database, { path, sessionsFolder, place, notes });
    } finally {
      database.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function copyDatabase(path: string, folder: string): Promise<string> {
  const copy = join(folder, basename(path));
  await copyFile(path, copy);
  if (await isFile(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`);
  return copy;
}

interface Reading {
  readonly path: string;
  /** Where the transcripts are that were moved out of the database. */
  readonly sessionsFolder: string;
  readonly place: ImportPlace;
  readonly notes: MigrationNotes;
}

async function sessionsIn(database: DatabaseSync, reading: Reading): Promise<FoundSession[]> {
  const { path, notes, place } = reading;
  if (!hasTable(database, "session_nodes") || !hasTable(database, "transcript_events")) {
    notes.skipped.push({ source: path, why: "it has no tables of sessions" });
    return [];
  }
  const folder = scratchFolder(place);
  await makePrivateDirectory(folder);
  const cold = await coldStorage(reading.sessionsFolder, rowsOf(database, "session_transcript_cold_archives"), place);
  const found: FoundSession[] = [];
  const current = new Set<string>();
  for (const node of database.prepare("SELECT * FROM session_nodes ORDER BY session_key").all()) {
    const key = String(node.session_key);
    const sessionId = String(node.current_session_id);
    current.add(sessionId);
    const row = tryParse(String(node.entry_json));
    const source = `${path} ${JSON.stringify(key)}`;
    if (!isObject(row)) notes.notes.push(`${key}: its row is no JSON; only its transcript is carried over`);
    const file = join(folder, `${sha256(sessionId).slice(0, 32)}.jsonl`);
    // The source may have grown since a run that was killed.
    await rm(file, { force: true });
    const count = (await writeTranscript(database, sessionId, file, place)) || (await cold.thaw(sessionId, file));
    if (count === 0) {
      notes.skipped.push({ source, why: "its transcript is empty or not in the database" });
      continue;
    }
    const times = promotedTimes(node);
    const write = async (): Promise<string> => file;
    const leaf = leafOf(database, sessionId);
    found.push({ source, key, row: { ...times, ...(isObject(row) ? row : {}), sessionId }, write, leaf });
  }
  await archiveEarlier(database, current, reading);
  for (const { id, source, atMs } of cold.rest()) {
    const file = archivePath(place, id, "cold", atMs);
    if ((await cold.thaw(id, file)) > 0) notes.archived.push({ source, file });
  }
  notes.skipped.push(...cold.unreadable);
  return found;
}

function rowsOf(database: DatabaseSync, table: string): readonly Row[] {
  return hasTable(database, table) ? database.prepare(`SELECT * FROM ${table}`).all() : [];
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/** Times that the store keeps beside the row. */
function promotedTimes(node: Row): Readonly<Record<string, number>> {
  const { updated_at: updatedAt, last_interaction_at: lastInteractionAt } = node;
  return {
    ...(typeof updatedAt === "number" ? { updatedAt } : {}),
    ...(typeof lastInteractionAt === "number" ? { lastInteractionAt } : {}),
  };
}

function leafOf(database: DatabaseSync, sessionId: string): string | null {
  if (!hasTable(database, "session_transcript_index_state")) return null;
  const query =
    "SELECT leaf_event_id AS leaf FROM session_transcript_index_state WHERE session_id = ? AND needs_rebuild = 0";
  const leaf = database.prepare(query).get(sessionId)?.leaf;
  return typeof leaf === "string" ? leaf : null;
}

/** Writes the events of a session as lines; returns how many there are. A file that is there came from an earlier run. */
async function writeTranscript(
  database: DatabaseSync,
  sessionId: string,
  file: string,
  place: ImportPlace,
): Promise<number> {
  await using lines = await NewFile.beside(file, place.world);
  let count = 0;
  for (const event of database
    .prepare("SELECT * FROM transcript_events WHERE session_id = ? ORDER BY seq")
    .iterate(sessionId)) {
    await lines.write(`${textOf(event)}\n`);
    count += 1;
  }
  if (count === 0) return 0;
  await lines.finish();
  await lines.name(file);
  return count;
}

function textOf(event: Row): string {
  const { event_json: json, event_zstd: packed } = event;
  const text = packed instanceof Uint8Array ? unpacked(packed).toString("utf8") : String(json ?? "");
  // One event is one line, however it was written.
  return text.includes("\n") ? JSON.stringify(tryParse(text)) : text;
}

function unpacked(bytes: Uint8Array): Buffer {
  return process.getBuiltinModule("node:zlib").zstdDecompressSync(bytes);
}

/** Sessions that a key had before, and transcripts that were put away inside the database. */
async function archiveEarlier(database: DatabaseSync, current: ReadonlySet<string>, reading: Reading): Promise<void> {
  const { path, place, notes } = reading;
  await makePrivateDirectory(join(place.directory, "archive"));
  const ids = database
    .prepare("SELECT session_id, MAX(created_at) AS time FROM transcript_events GROUP BY session_id")
    .all();
  for (const { session_id: id, time } of ids) {
    const sessionId = String(id);
    if (current.has(sessionId)) continue;
    const file = archivePath(place, sessionId, "earlier", time);
    await writeTranscript(database, sessionId, file, place);
    notes.archived.push({ source: `${path} ${sessionId}`, file });
  }
  if (!hasTable(database, "session_transcript_archives")) return;
  for (const archive of database.prepare("SELECT * FROM session_transcript_archives").iterate()) {
    const file = archivePath(place, String(archive.session_id), String(archive.reason), archive.created_at);
    const blob = archive.archive_blob;
    if (!(blob instanceof Uint8Array)) continue;
    await using copy = await NewFile.beside(file, place.world);
    await copy.write(archive.encoding === "zstd" ? unpacked(blob) : Buffer.from(blob));
    await copy.finish();
    await copy.name(file);
    notes.archived.push({ source: `${path} ${String(archive.archive_name)}`, file });
  }
}

function archivePath(place: ImportPlace, sessionId: string, why: string, time: SQLOutputValue | undefined): string {
  const id = sessionId.replace(/[^A-Za-z0-9_-]/g, "-");
  const reason = why.replace(/[^a-z]/g, "") || "unreferenced";
  return join(place.directory, archivedFile({ id, reason, atMs: typeof time === "number" ? time : 0 }));
}
