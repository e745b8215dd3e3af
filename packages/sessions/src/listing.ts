/**
 * What conversations a directory holds, for programs that only look: no lock, no store, nothing written, little to import.
 * Invariant: reading changes nothing, also while another process writes or folds the index.
 */
import { realDisk } from "./stores/file/disk.ts";
import { loadIndex } from "./stores/file/index-files.ts";
import type { ListedSession, SessionsProblem } from "./types.ts";

export interface Listing {
  /** Newest first by `updatedAt`. */
  readonly sessions: readonly ListedSession[];
  /** What was odd in the index: set aside here, mended by the next writer. */
  readonly problems: readonly SessionsProblem[];
}

/** Throws what the file system throws, when the directory is missing or may not be read. */
export async function listingOf(directory: string): Promise<Listing> {
  const { rows, problems } = await loadIndex(realDisk, directory);
  const listed = [...rows].map(([key, row]) => ({ key, row }));
  const sessions = listed.sort((a, b) => (b.row.updatedAt ?? 0) - (a.row.updatedAt ?? 0));
  return { sessions, problems };
}
