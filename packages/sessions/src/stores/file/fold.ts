/**
 * Folds the journals into a new snapshot, while others go on reading and writing.
 *
 * Order: begin journal n+1 · write the snapshot aside · copy it to `.bak` · name its hash in n+1 · rename · delete the
 * journals up to n. Killed between any two steps, a replay of what is there gives the same rows.
 * Invariant: a journal is deleted only after the snapshot that holds its rows has its final name, durably.
 */
import { createHash } from "node:crypto";
import type { SessionRow } from "../../types.ts";
import { appendSpoiling } from "./append-lines.ts";
import type { Disk, Place } from "./disk.ts";
import { backupPath, fileId, type IndexState, indexPath, journalPath, listJournals } from "./index-files.ts";
import { encodeJournalSnapshot, encodeSnapshotRow } from "./snapshot.ts";
import { during } from "./storage-error.ts";
import { copyWhole, writeAll } from "./whole-files.ts";

export interface FoldTools extends Place {
  readonly directory: string;
  /** Undefined when another process folds right now. */
  tryFold(): Promise<AsyncDisposable | undefined>;
  /** Runs under `sessions.lock` with everything taken in. */
  locked<T>(work: (state: IndexState) => Promise<T>): Promise<T>;
}

/** Rows written between two breaths, so that a large index does not stall the process. */
const ROWS_PER_SLICE = 500;

/** The new snapshot's id and size, or undefined when another process folds right now. */
export async function foldIndex(tools: FoldTools): Promise<{ readonly id: string; readonly size: number } | undefined> {
  await using lock = await tools.tryFold();
  if (lock === undefined) return undefined;
  const { directory, disk, world } = tools;
  const { rows, journal } = await beginJournal(tools);
  const aside = `${indexPath(directory)}.new`;
  const written = await writeSnapshot(disk, aside, rows);
  await copyWhole(disk, aside, backupPath(directory));
  world.at("index:before-write");
  await tools.locked((state) => appendName(tools, state.journal, written));
  world.at("index:after-sync");
  await disk.rename(aside, indexPath(directory));
  await disk.syncDirectory(directory);
  world.at("index:after-rename");
  const id = await fileId(disk, indexPath(directory));
  // The oldest first, each durably: one that came back without its successor would win with old rows.
  for (const n of await listJournals(disk, directory)) {
    if (n >= journal) continue;
    await disk.remove(journalPath(directory, n));
    await disk.syncDirectory(directory);
  }
  world.at("index:after-delete");
  return id;
}

interface Begun {
  readonly rows: readonly (readonly [string, SessionRow])[];
  readonly journal: number;
}

/** From here on changes go to the next journal; what was before is in `rows`. */
function beginJournal(tools: FoldTools): Promise<Begun> {
  return tools.locked(async (state) => {
    await nextJournal(state, tools);
    return { rows: [...state.rows], journal: state.journal };
  });
}

/** Begins the next journal, durably: called under `sessions.lock` with everything taken in. */
export async function nextJournal(
  state: IndexState,
  { directory, disk, world }: Place & { readonly directory: string },
): Promise<void> {
  const journal = state.journal + 1;
  world.at("index:before-write");
  const path = journalPath(directory, journal);
  const file = await during(path, "open", () => disk.open(path, "new"));
  await file.close();
  await during(path, "sync", () => disk.syncDirectory(directory));
  world.at("index:after-sync");
  // Everything before is in `state.rows`, so there is no need to read it all again.
  state.journal = journal;
  state.offset = 0;
}

interface Written {
  readonly size: number;
  readonly hash: string;
}

async function writeSnapshot(disk: Disk, path: string, rows: Begun["rows"]): Promise<Written> {
  await disk.remove(path);
  await using file = await disk.open(path, "new");
  const hash = createHash("sha256");
  const put = async (text: string): Promise<number> => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    await writeAll(file, bytes);
    return bytes.length;
  };
  let size = await put("{\n");
  for (let start = 0; start < rows.length; start += ROWS_PER_SLICE) {
    const slice = rows.slice(start, start + ROWS_PER_SLICE);
    const isLast = (index: number): boolean => start + index === rows.length - 1;
    size += await put(slice.map(([key, row], index) => encodeSnapshotRow(key, row, isLast(index))).join(""));
  }
  size += await put("}\n");
  await file.sync();
  return { size, hash: hash.digest("hex") };
}

async function appendName({ directory, disk }: FoldTools, journal: number, written: Written): Promise<void> {
  const path = journalPath(directory, journal);
  await using file = await disk.open(path, "append");
  await appendSpoiling(file, path, encodeJournalSnapshot(written.size, written.hash));
  await file.datasync();
}
