/**
 * The files of the index and their replay: `sessions.json`, its copy `.bak`, and numbered journals of whole rows.
 *
 * A reader lists the journals, reads the snapshot, replays all in order and lists again: with whole rows that is right
 * at every moment of a fold, also of one that was killed.
 * Invariant: reading changes nothing. What has to be written because of it (a hand edit, a rebuilt row) is `adopt`.
 */
import { join } from "node:path";
import { canonical, sha256 } from "@holdfast/base";
import { Newest } from "../../newest.ts";
import type { SessionRow, SessionsProblem } from "../../types.ts";
import type { Disk } from "./disk.ts";
import { takeLines, takeLinesHashed } from "./line-reader.ts";
import { rebuildRows } from "./rebuild.ts";
import {
  type BrokenRow,
  type ParsedSnapshot,
  parseJournalLine,
  parseSnapshot,
  type Rows,
  takeSnapshotLine,
} from "./snapshot.ts";
import { readIfThere, readWholeFile } from "./whole-files.ts";

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
  readonly newest: Newest;
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
  const found = await disk.find(path);
  if (found === undefined) return { id: "", size: 0 };
  return { id: `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`, size: Number(found.size) };
}

export async function listJournals(disk: Disk, directory: string): Promise<readonly number[]> {
  const numbers = (await disk.list(directory)).flatMap((name) => {
    const match = /^sessions\.journal-(\d+)\.jsonl$/.exec(name);
    return match ? [Number(match[1])] : [];
  });
  return numbers.sort((a, b) => a - b);
}

interface Files {
  readonly seen: Replayed;
  readonly firstJournal: number | undefined;
  /** The newest journal, 0 for none; bytes of its whole lines, and of all journals. */
  readonly journal: number;
  readonly offset: number;
  readonly journalBytes: number;
  /** A journal ends in the middle of a line. */
  readonly torn: boolean;
  readonly snapshot: ReadSnapshot | undefined;
  readonly snapshotId: string;
}

/** A snapshot read line by line: what that gives counts only if the text is as we wrote it, which its hash tells. */
interface ReadSnapshot {
  readonly rows: Rows;
  readonly broken: readonly BrokenRow[];
  readonly size: number;
  readonly hash: string;
}

/** One consistent view: read again while the list of journals or the snapshot changes under our eyes. */
async function readFiles({ disk, directory }: Where): Promise<Files> {
  for (;;) {
    const before = await listJournals(disk, directory);
    const { id } = await fileId(disk, indexPath(directory));
    const snapshot = await readSnapshot(disk, indexPath(directory));
    const journals = await readJournals({ disk, directory }, before);
    const after = await listJournals(disk, directory);
    const same = before.join() === after.join() && journals !== undefined;
    if (same && (await fileId(disk, indexPath(directory))).id === id) return { ...journals, snapshot, snapshotId: id };
  }
}

async function readSnapshot(disk: Disk, path: string): Promise<ReadSnapshot | undefined> {
  const taken = { rows: new Map() as Rows, broken: [] as BrokenRow[] };
  const read = await takeLinesHashed(disk, path, (line) => takeSnapshotLine(line, taken));
  return read && { ...taken, size: read.size, hash: read.hash };
}

type Journals = Pick<Files, "seen" | "firstJournal" | "journal" | "offset" | "journalBytes" | "torn">;

/** Replays these journals; undefined when one of them is gone. */
async function readJournals({ disk, directory }: Where, numbers: readonly number[]): Promise<Journals | undefined> {
  const seen: Replayed = { changes: new Map(), snapshots: [], problems: [] };
  let offset = 0;
  let journalBytes = 0;
  let torn = false;
  for (const n of numbers) {
    const read = await takeLines(disk, journalPath(directory, n), (line) => takeJournalLine(line, seen));
    if (read === undefined) return undefined;
    offset = read.end;
    journalBytes += read.size;
    torn ||= read.size > read.end;
  }
  return { seen, firstJournal: numbers[0], journal: numbers.at(-1) ?? 0, offset, journalBytes, torn };
}

/** Collects the rows of whole lines in `changes`; returns how many bytes they were. A torn last line is left for later. */
export function replay(bytes: Buffer, into: Replayed): number {
  const end = bytes.lastIndexOf(0x0a) + 1;
  for (const text of bytes.toString("utf8", 0, end).split("\n")) takeJournalLine(text, into);
  return end;
}

function takeJournalLine(text: string, into: Replayed): void {
  if (text.trim() === "") return;
  const line = parseJournalLine(text);
  if (line.kind === "row") into.changes.set(line.key, line.row);
  else if (line.kind === "snapshot") into.snapshots.push(line.hash);
  else into.problems.push({ code: "line_broken", what: line.text.slice(0, 200) });
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
  readonly problems: readonly SessionsProblem[];
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

/** The copy of the snapshot; one that is damaged itself proves nothing, and stands in for nothing. */
async function readBackup(disk: Disk, directory: string): Promise<ParsedSnapshot | undefined> {
  const backup = await readIfThere(disk, backupPath(directory));
  const parsed = backup && parseSnapshot(backup.toString("utf8"));
  return parsed?.whole === true ? parsed : undefined;
}

/** The rows below the journals: the snapshot as we wrote it, as somebody edited it, its copy, or the transcripts. */
async function baseRows(where: Where, { snapshot, seen, firstJournal }: Files): Promise<Base> {
  if (snapshot === undefined) return withoutSnapshot(where, firstJournal);
  const isKnown = seen.snapshots.includes(snapshot.hash);
  if (isKnown && snapshot.broken.length === 0) return { ...UNEDITED, rows: snapshot.rows };
  // What somebody else wrote, once taken over or not, may have any layout: it is read as one text.
  const bytes = await readWholeFile(where.disk, indexPath(where.directory));
  const parsed = parseSnapshot(bytes.toString("utf8"));
  if (!isKnown) return editedRows(where, { bytes, parsed, wasOurs: seen.snapshots.length > 0 });
  return { ...UNEDITED, rows: parsed.rows, problems: parsed.broken.map(rowProblem) };
}

const UNEDITED: Omit<Base, "rows"> = { wins: new Map(), fills: new Map(), problems: [], adopted: null };

function rowProblem({ key, why }: BrokenRow): SessionsProblem {
  return { code: "row_broken", what: `${key}: ${why}` };
}

interface Edited {
  readonly bytes: Buffer;
  readonly parsed: ParsedSnapshot;
  /** Whether there was one of ours before: then every difference is reported. */
  readonly wasOurs: boolean;
}

/** What stands in for rows that a damaged snapshot lost: its copy, else the transcripts. A whole one lost nothing. */
async function keptBeside(
  { disk, directory }: Where,
  parsed: ParsedSnapshot,
): Promise<{ readonly kept: ParsedSnapshot; readonly problems: readonly SessionsProblem[] }> {
  const backup = await readBackup(disk, directory);
  if (backup !== undefined || parsed.whole) return { kept: backup ?? NOTHING, problems: [] };
  const { rows, problems } = await rebuildRows(disk, directory);
  return { kept: { ...NOTHING, rows }, problems };
}

async function editedRows(where: Where, { bytes, parsed, wasOurs }: Edited): Promise<Base> {
  const { kept, problems } = await keptBeside(where, parsed);
  const { wins, fills } = edits(parsed, kept);
  const edited = wasOurs ? [...wins.keys()] : [];
  return {
    rows: new Map([...parsed.rows, ...fills]),
    wins,
    fills,
    problems: [
      ...problems,
      ...parsed.broken.map(rowProblem),
      ...edited.map((what) => ({ code: "edited_by_hand", what }) as const),
    ],
    adopted: {
      size: bytes.length,
      hash: sha256(bytes),
      damaged: parsed.broken.length > 0 || !parsed.whole ? bytes : null,
    },
  };
}

/** No snapshot: not yet, if the first journal is there (it is deleted only after a snapshot was written); else lost. */
async function withoutSnapshot({ disk, directory }: Where, firstJournal: number | undefined): Promise<Base> {
  if (firstJournal === 1) return { ...UNEDITED, rows: new Map() };
  const backup = await readBackup(disk, directory);
  if (backup !== undefined) {
    return {
      ...UNEDITED,
      rows: backup.rows,
      fills: new Map(backup.rows),
      problems: [{ code: "from_backup", what: backupPath(directory) }],
    };
  }
  const { rows, problems } = await rebuildRows(disk, directory);
  return { ...UNEDITED, rows, fills: new Map(rows), problems };
}

/** Damaged, or as good as none: then a transcript without a row has lost it. */
function isInDoubt({ snapshot, seen, torn }: Files, { rows, adopted }: Base): boolean {
  if (seen.problems.length > 0 || torn || (adopted?.damaged ?? null) !== null) return true;
  return snapshot === undefined && rows.size === 0 && seen.changes.size === 0;
}

/** Rows for transcripts that no row names, where the index may have lost some. A row that was removed stays so. */
async function lostRows({ disk, directory }: Where, { files, base }: { readonly files: Files; readonly base: Base }) {
  const { changes } = files.seen;
  if (!isInDoubt(files, base)) return { rows: new Map() as Rows, problems: [] };
  const kept = [...base.rows.values(), ...[...changes.values()].filter((row) => row !== null)];
  const found = await rebuildRows(disk, directory, new Set(kept.map(({ sessionFile }) => sessionFile)));
  const lost = [...found.rows].filter(([key]) => !base.rows.has(key) && !changes.has(key));
  return { rows: new Map(lost), problems: lost.length > 0 ? found.problems : [] };
}

/** Reads everything. */
export async function loadIndex(disk: Disk, directory: string): Promise<IndexState> {
  const files = await readFiles({ disk, directory });
  const { seen } = files;
  const base = await baseRows({ disk, directory }, files);
  const lost = await lostRows({ disk, directory }, { files, base });
  const adopt: Changes = new Map([...base.fills].filter(([key]) => !seen.changes.has(key)));
  for (const [key, row] of [...base.wins, ...lost.rows]) adopt.set(key, row);
  applyChanges(base.rows, seen.changes);
  applyChanges(base.rows, adopt);
  return {
    rows: base.rows,
    newest: new Newest(base.rows),
    journal: files.journal,
    offset: files.offset,
    journalBytes: files.journalBytes,
    snapshotId: files.snapshotId,
    snapshotBytes: files.snapshot?.size ?? 0,
    adopt,
    adopted: base.adopted,
    problems: [...base.problems, ...seen.problems, ...lost.problems],
  };
}
