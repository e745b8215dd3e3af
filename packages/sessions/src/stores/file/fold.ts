/**
 * Folds the journals into a new snapshot, while others go on reading and writing.
 *
 * Order: begin journal n+1 · write the snapshot aside · copy it to `.bak` · name its hash in n+1 · rename · delete the
 * journals up to n. Killed between any two steps, a replay of what is there gives the same rows.
 * Invariant: a journal is deleted only after the snapshot that holds its rows has its final name, durably.
 */
import { createHash } from "node:crypto";
import { copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory, tryFileLock, type World } from "@holdfast/base";
import type { SessionRow } from "../../types.ts";
import { appendLines } from "./append-lines.ts";
import { backupPath, fileId, type IndexState, indexPath, journalPath, listJournals } from "./index-files.ts";
import { encodeJournalSnapshot, encodeSnapshotRow } from "./snapshot.ts";

export interface FoldTools {
  readonly directory: string;
  readonly world: World;
  /** Runs under `sessions.lock` with everything taken in. */
  locked<T>(work: (state: IndexState) => Promise<T>): Promise<T>;
}

/** Rows written between two breaths, so that a large index does not stall the process. */
const ROWS_PER_SLICE = 500;

/** The new snapshot's id and size, or undefined when another process folds right now. */
export async function foldIndex(tools: FoldTools): Promise<{ readonly id: string; readonly size: number } | undefined> {
  using lock = tryFileLock(join(tools.directory, "sessions.fold.lock"));
  if (lock === undefined) return undefined;
  const { directory, world } = tools;
  const { rows, journal } = await beginJournal(tools);
  const aside = `${indexPath(directory)}.new`;
  const written = await writeSnapshot(aside, rows);
  await copyDurably(aside, backupPath(directory));
  world.at("index:before-write");
  await tools.locked((state) => appendName(directory, state.journal, written));
  world.at("index:after-sync");
  await rename(aside, indexPath(directory));
  await syncDirectory(directory);
  world.at("index:after-rename");
  const id = await fileId(indexPath(directory));
  for (const n of await listJournals(directory)) {
    if (n < journal) await rm(journalPath(directory, n), { force: true });
  }
  world.at("index:after-delete");
  return id;
}

interface Begun {
  readonly rows: readonly (readonly [string, SessionRow])[];
  readonly journal: number;
}

/** From here on changes go to the next journal; what was before is in `rows`. */
async function beginJournal({ directory, world, locked }: FoldTools): Promise<Begun> {
  return locked(async (state) => {
    const journal = state.journal + 1;
    world.at("index:before-write");
    const handle = await open(journalPath(directory, journal), "wx", 0o600);
    await handle.close();
    await syncDirectory(directory);
    world.at("index:after-sync");
    // Everything before is in `state.rows`, so there is no need to read it all again.
    state.journal = journal;
    state.offset = 0;
    return { rows: [...state.rows], journal };
  });
}

interface Written {
  readonly size: number;
  readonly hash: string;
}

async function writeSnapshot(path: string, rows: Begun["rows"]): Promise<Written> {
  await rm(path, { force: true });
  const handle = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  const put = async (text: string): Promise<number> => {
    hash.update(text);
    return writeAll(handle, Buffer.from(text));
  };
  try {
    let size = await put("{\n");
    for (let start = 0; start < rows.length; start += ROWS_PER_SLICE) {
      const slice = rows.slice(start, start + ROWS_PER_SLICE);
      const isLast = (index: number): boolean => start + index === rows.length - 1;
      size += await put(slice.map(([key, row], index) => encodeSnapshotRow(key, row, isLast(index))).join(""));
    }
    size += await put("}\n");
    await handle.sync();
    return { size, hash: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<number> {
  await handle.appendFile(bytes);
  return bytes.length;
}

async function copyDurably(from: string, to: string): Promise<void> {
  const aside = `${to}.new`;
  await copyFile(from, aside);
  const handle = await open(aside, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(aside, to);
}

async function appendName(directory: string, journal: number, written: Written): Promise<void> {
  const path = journalPath(directory, journal);
  const handle = await open(path, "a+", 0o600);
  try {
    await appendLines(handle, path, encodeJournalSnapshot(written.size, written.hash));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
