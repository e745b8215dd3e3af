/**
 * Pi's sessions (one folder per working directory) as conversations of this store: `agent:<agent>:pi:<session id>`.
 * Invariant: the source is only read; a session is known by its id, so a migration that was killed is just run again.
 */
import { type Dirent, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "@holdfast/base";
import { formatSessionKey, isSessionId } from "../key.ts";
import { type ImportPlace, importHistory } from "../keeping/import.ts";
import { openIncoming } from "../keeping/incoming.ts";
import { MigrationNotes, type MigrationReport } from "./report.ts";

export interface MigratePi {
  /** `~/.pi`, `~/.pi/agent`, its `sessions`, or one folder of that. */
  readonly from: string;
  readonly agentId: string;
  readonly onProgress?: (done: { readonly sessions: number; readonly of: number }) => void;
}

/** One session that cannot be read does not stop the others. Throws what the file system throws on `from`, `write_failed`. */
export async function migratePi(
  place: ImportPlace,
  { from, agentId, onProgress }: MigratePi,
): Promise<MigrationReport> {
  const notes = new MigrationNotes();
  const files = await transcriptsUnder(sessionsFolder(from));
  for (const [index, file] of files.entries()) {
    onProgress?.({ sessions: index, of: files.length });
    await migrateOne(place, file, agentId, notes).catch((error: unknown) => {
      if (!(error instanceof CodedError) || error.code === "write_failed") throw error;
      notes.skipped.push({ source: file, why: error.message });
    });
  }
  onProgress?.({ sessions: files.length, of: files.length });
  return notes;
}

function sessionsFolder(from: string): string {
  const places = [join(from, "agent", "sessions"), join(from, "sessions")];
  return places.find((folder) => existsSync(folder)) ?? from;
}

async function transcriptsUnder(folder: string, depth = 0): Promise<string[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile() && entry.name.endsWith(".jsonl")) found.push(path);
    else if (entry.isDirectory() && depth < 2) found.push(...(await transcriptsUnder(path, depth + 1)));
  }
  return found;
}

async function migrateOne(place: ImportPlace, file: string, agentId: string, notes: MigrationNotes): Promise<void> {
  const { id, cwd } = await headerOf(file);
  if (!isSessionId(id)) {
    notes.skipped.push({ source: file, why: "its session id cannot be the name of a file" });
    return;
  }
  const row = { importedFrom: { program: "pi", file, sessionId: id }, ...(cwd === undefined ? {} : { cwd }) };
  const imported = await importHistory(place, { file, key: formatSessionKey(agentId, "pi", id), sessionId: id, row });
  notes.carried.push({ source: file, ...imported });
}

async function headerOf(file: string): Promise<{ readonly id: string; readonly cwd: string | undefined }> {
  await using incoming = await openIncoming(file);
  return { id: incoming.header.id, cwd: incoming.header.cwd };
}
