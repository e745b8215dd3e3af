/**
 * The files of the index and their replay: `sessions.json`, its copy `.bak`, and numbered journals of whole rows.
 *
 * A reader lists the journals, reads the snapshot, replays all in order and lists again: with whole rows that is right
 * at every moment of a fold, also of one that was killed.
 * Invariant: reading changes nothing. What has to be written because of it (a hand edit, a rebuilt row) is `adopt`.
 */
import { join } from "node:path";
import { canonical, errnoOf, sha256 } from "@holdfast/base";
import type { SessionRow, SessionsProblem } from "../../types.ts";
import type { Disk } from "./disk.ts";
import { rebuildRows } from "./rebuild.ts";
import { type ParsedSnapshot, parseJournalLine, parseSnapshot, type Rows } from "./snapshot.ts";
import { readIfThere } from "./whole-files.ts";

/** Rows by key, null for a removed one. */
export type Changes = Map<string, SessionRow | null>;

/** What journals say: rows, the snapshots they name, lines that say nothing. */
export interface Replayed {
  readonly changes: Changes;
  readonly snapshots: string[];
  readonly problems: SessionsProblem[];
}

/** The index as read, and how far: enough to follow it cheaply. */
export interface IndexState {
  readonly rows: Rows;
  /** The newest journal, 0 for none, and how far it was read. */
  journal: number;
  offset: number;
  /** Bytes in all journals, for the decision to fold. */
  journalBytes: number;
  snapshotId: string;
  snapshotBytes: number;
  /** Rows that must become journal lines before anything else, null for a removed one. */
  adopt: Changes;
  /** The snapshot that `adopt` came from, to be named with it; its text where some of it could not be used. */
  adopted: { readonly size: number; readonly hash: string; readonly damaged: Buffer | null } | null;
  readonly problems: readonly SessionsProblem[];
}

export const indexPath = (directory: string): string => join(directory, "sessions.json");
export const backupPath = (directory: string): string => join(directory, "sessions.json.bak");
export const journalPath = (directory: string, n: number): string => join(directory, `sessions.journal-${n}.jsonl`);

/** Who the file at `path` is right now; "" for none. */
export async function fileId(disk: Disk, path: string): Promise<{ readonly id: string; readonly size: number }> {
  try {
    const found = await disk.stat(path);
    return { id: `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`, size: Number(found.size) };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { id: "", size: 0 };
    throw error;
  }
}

export async function listJournals(disk: Disk, directory: string): Promise<readonly number[]> {
  const numbers = (await disk.list(directory)).flatMap((name) => {
    const match = /^sessions\.journal-(\d+)\.jsonl$/.exec(name);
    return match ? [Number(match[1])] : [];
  });
  return numbers.sort((a, b) => a - b);
}

interface RawFiles {
  readonly journals: readonly { readonly n: number; readonly bytes: Buffer }[];
  readonly snapshot: Buffer | undefined;
  readonly snapshotId: string;
}

/** One consistent view: read again while the list of journals or the snapshot changes under our eyes. */
async function readFiles(disk: Disk, directory: string): Promise<RawFiles> {
  for (;;) {
    const before = await listJournals(disk, directory);
    const { id } = await fileId(disk, indexPath(directory));
    const snapshot = await readIfThere(disk, indexPath(directory));
    const journals: { n: number; bytes: Buffer }[] = [];
    for (const n of before) {
      const bytes = await readIfThere(disk, journalPath(directory, n));
      if (bytes !== undefined) journals.push({ n, bytes });
    }
    const after = await listJournals(disk, directory);
    const same = before.join() === after.join() && journals.length === before.length;
    if (same && (await fileId(disk, indexPath(directory))).id === id) return { journals, snapshot, snapshotId: id };
  }
}

/** Collects the rows of whole lines in `changes`; returns how many bytes they were. A torn last line is left for later. */
export function replay(bytes: Buffer, into: Replayed): number {
  const end = bytes.lastIndexOf(0x0a) + 1;
  for (const text of bytes.toString("utf8", 0, end).split("\n")) {
    if (text.trim() === "") continue;
    const line = parseJournalLine(text);
    if (line.kind === "row") into.changes.set(line.key, line.row);
    else if (line.kind === "snapshot") into.snapshots.push(line.hash);
    else into.problems.push({ code: "line_broken", what: line.text.slice(0, 200) });
  }
  return end;
}

/** Puts `changes` over `rows`. */
export function applyChanges(rows: Rows, changes: Changes): void {
  for (const [key, row] of changes) {
    if (row === null) rows.delete(key);
    else rows.set(key, row);
  }
}

interface Where {
  readonly disk: Disk;
  readonly directory: string;
}

interface Base {
  readonly rows: Rows;
  /** Win over the journals. */
  readonly wins: Changes;
  /** Count only where the journals say nothing. */
  readonly fills: Rows;
  readonly problems: SessionsProblem[];
  readonly adopted: IndexState["adopted"];
}

const NOTHING: ParsedSnapshot = { rows: new Map(), broken: [], whole: true };

/** What an edited snapshot says: what differs from our copy wins; what is missing was removed, or only damaged. */
function edits(edited: ParsedSnapshot, kept: ParsedSnapshot): Pick<Base, "wins" | "fills"> {
  const wins: Changes = new Map();
  const fills: Rows = new Map();
  for (const [key, row] of edited.rows) {
    if (canonical(row) !== canonical(kept.rows.get(key) ?? null)) wins.set(key, row);
  }
  const brokenKeys = new Set(edited.broken.map((row) => row.key));
  for (const [key, row] of kept.rows) {
    if (edited.rows.has(key)) continue;
    if (edited.whole && !brokenKeys.has(key)) wins.set(key, null);
    else fills.set(key, row);
  }
  return { wins, fills };
}

async function readBackup(disk: Disk, directory: string): Promise<ParsedSnapshot | undefined> {
  const backup = await readIfThere(disk, backupPath(directory));
  return backup === undefined ? undefined : parseSnapshot(backup.toString("utf8"));
}

/** The rows below the journals: the snapshot as we wrote it, as somebody edited it, its copy, or the transcripts. */
async function baseRows({ disk, directory }: Where, files: RawFiles, names: readonly string[]): Promise<Base> {
  if (files.snapshot === undefined) return withoutSnapshot({ disk, directory }, files.journals[0]?.n);
  const parsed = parseSnapshot(files.snapshot.toString("utf8"));
  const problems: SessionsProblem[] = parsed.broken.map(({ key, why }) => ({
    code: "row_broken",
    what: `${key}: ${why}`,
  }));
  const hash = sha256(files.snapshot);
  const asWritten = names.slice(-2).includes(hash);
  if (asWritten) return { rows: parsed.rows, wins: new Map(), fills: new Map(), problems, adopted: null };
  const { wins, fills } = edits(parsed, (await readBackup(disk, directory)) ?? NOTHING);
  const damaged = parsed.broken.length > 0 ? files.snapshot : null;
  const adopted = { size: files.snapshot.length, hash, damaged };
  if (names.length > 0) for (const key of wins.keys()) problems.push({ code: "edited_by_hand", what: key });
  return { rows: new Map([...parsed.rows, ...fills]), wins, fills, problems, adopted };
}

/** No snapshot: not yet, if the first journal is there (it is deleted only after a snapshot was written); else lost. */
async function withoutSnapshot({ disk, directory }: Where, firstJournal: number | undefined): Promise<Base> {
  const none: Base = { rows: new Map(), wins: new Map(), fills: new Map(), problems: [], adopted: null };
  if (firstJournal === 1) return none;
  const backup = await readBackup(disk, directory);
  if (backup !== undefined) {
    return {
      ...none,
      rows: backup.rows,
      fills: new Map(backup.rows),
      problems: [{ code: "from_backup", what: backupPath(directory) }],
    };
  }
  const { rows, problems } = await rebuildRows(disk, directory);
  return { ...none, rows, fills: new Map(rows), problems };
}

/** Reads everything. */
export async function loadIndex(disk: Disk, directory: string): Promise<IndexState> {
  const files = await readFiles(disk, directory);
  const seen: Replayed = { changes: new Map(), snapshots: [], problems: [] };
  for (const { bytes } of files.journals) replay(bytes, seen);
  const base = await baseRows({ disk, directory }, files, seen.snapshots);
  const adopt: Changes = new Map([...base.fills].filter(([key]) => !seen.changes.has(key)));
  for (const [key, row] of base.wins) adopt.set(key, row);
  applyChanges(base.rows, seen.changes);
  applyChanges(base.rows, adopt);
  const last = files.journals.at(-1);
  return {
    rows: base.rows,
    journal: last?.n ?? 0,
    offset: last === undefined ? 0 : last.bytes.lastIndexOf(0x0a) + 1,
    journalBytes: files.journals.reduce((sum, { bytes }) => sum + bytes.length, 0),
    snapshotId: files.snapshotId,
    snapshotBytes: files.snapshot?.length ?? 0,
    adopt,
    adopted: base.adopted,
    problems: [...base.problems, ...seen.problems],
  };
}
