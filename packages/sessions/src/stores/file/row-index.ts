/**
 * The index in use: rows by key, followed cheaply, changed by one durable journal line, folded now and then.
 *
 * Asking for a row costs three `stat` calls and whatever others appended since, whether 10 or 100,000 rows are there.
 * Invariant: rows change only under `sessions.lock`, after everything others wrote was taken in; a line is synced before
 * the change is returned.
 */
import { LIMITS } from "@holdfast/base";
import type { ListedSession, ListQuery, SessionRow, SessionsProblem } from "../../types.ts";
import { appendSpoiling, writeLines } from "./append-lines.ts";
import type { Disk, Place } from "./disk.ts";
import { foldIndex, nextJournal } from "./fold.ts";
import {
  applyChanges,
  fileId,
  type IndexState,
  indexPath,
  journalPath,
  loadIndex,
  type Replayed,
  replay,
} from "./index-files.ts";
import { type IndexLock, type IndexLocks, indexLocks } from "./index-lock.ts";
import { KeptJournal } from "./kept-journal.ts";
import { encodeJournalRow, encodeJournalSnapshot } from "./snapshot.ts";
import { during } from "./storage-error.ts";
import { writeNewFile } from "./whole-files.ts";
import { type LockOptions, Queues } from "./write-lock.ts";

export interface RowIndexOptions extends Place {
  readonly directory: string;
  readonly lock: LockOptions;
  /** Whether lines are synced. */
  readonly sync: boolean;
  readonly foldBytes?: number;
  readonly onProblem: (problem: SessionsProblem) => void;
}

type Change = (row: SessionRow | undefined) => SessionRow | undefined | null;

/** One caller of `update`. Exactly one of `resolve` and `reject` is called, once. */
interface Waiting {
  readonly key: string;
  readonly change: Change;
  readonly resolve: (row: SessionRow | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows that share a write at most. */
const BATCH_MAX = 500;

export class RowIndex {
  readonly #options: RowIndexOptions;
  readonly #locks: IndexLocks;
  readonly #queues = new Queues();
  readonly #journal: KeptJournal;
  readonly #waiting: Waiting[] = [];
  #state: IndexState | undefined;
  #folding: Promise<void> | undefined;

  constructor(options: RowIndexOptions) {
    this.#options = options;
    this.#locks = indexLocks(options.directory, options, options.lock);
    this.#journal = new KeptJournal(options.disk, { canKeep: this.#locks.canKeep, sync: options.sync });
  }

  async get(key: string): Promise<SessionRow | undefined> {
    return (await this.#refresh()).rows.get(key);
  }

  async list(query: ListQuery = {}): Promise<readonly ListedSession[]> {
    return (await this.#refresh()).newest.list(query);
  }

  update(key: string, change: Change): Promise<SessionRow | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, change, resolve, reject });
      this.#locked((state, lock) => this.#write(state, lock)).then(
        (answers) => {
          for (const answer of answers) answer();
          if (this.#folding === undefined && isDue(this.#state, this.#options.foldBytes)) void this.scrub();
        },
        // Nothing could be done. Every caller has a try of its own, so each failure is one caller's.
        (error) => this.#waiting.shift()?.reject(error),
      );
    });
  }

  /** Everybody who waits by now shares one write and one sync, in the order they came. What they are told afterwards. */
  async #write(state: IndexState, lock: IndexLock): Promise<readonly (() => void)[]> {
    const batch = this.#waiting.splice(0, BATCH_MAX);
    const { lines, answers } = changed(state, batch, this.#options.world.nowMs());
    try {
      if (lines !== "") await this.#append(state, lines, lock);
      return answers;
    } catch (error) {
      return batch.map(
        ({ reject }) =>
          () =>
            reject(error),
      );
    }
  }

  /** Folds now: snapshot, its copy and the journals hold present rows only. False: another process folds, or it failed. */
  scrub(): Promise<boolean> {
    const fold = (this.#folding ?? Promise.resolve()).then(() => this.#fold());
    const ended = fold.then(() => {
      if (this.#folding === ended) this.#folding = undefined;
    });
    this.#folding = ended;
    return fold;
  }

  /** Folds what is left over and ends. */
  async close(): Promise<void> {
    await this.#folding;
    const state = this.#state;
    if (state !== undefined && state.journal > 0 && state.journalBytes > 0) await this.#fold();
    await this.#journal.close();
    this.#locks.close();
  }

  /** Under the lock, with everything others wrote taken in and whatever has to be adopted adopted. */
  #locked<T>(work: (state: IndexState, lock: IndexLock) => Promise<T>): Promise<T> {
    return this.#queues.run("update", async () => {
      await using lock = await this.#locks.take();
      let state = await this.#refresh();
      if (lock.mustFence) {
        await nextJournal(state, this.#options);
        await lock.fenced();
      }
      if (state.adopt.size > 0 || state.adopted !== null) {
        await this.#adopt(state, lock);
        this.#state = undefined;
        state = await this.#refresh();
      }
      // Awaited here: the lock is given back when this scope ends.
      return await work(state, lock);
    });
  }

  /** Makes what was found beside the journals the newest word, once. */
  async #adopt(state: IndexState, lock: IndexLock): Promise<void> {
    const { directory, disk, world } = this.#options;
    const atMs = world.nowMs();
    if (state.adopted?.damaged) {
      // The next fold writes the file anew: what could not be used is kept beside it.
      const aside = `${indexPath(directory)}.damaged-${state.adopted.hash.slice(0, 8)}`;
      await writeNewFile(disk, aside, state.adopted.damaged);
    }
    const rows = Array.from(state.adopt, ([key, row]) => encodeJournalRow(key, row, atMs)).join("");
    const name = state.adopted === null ? "" : encodeJournalSnapshot(state.adopted.size, state.adopted.hash);
    await this.#append(state, rows + name, lock);
  }

  /** One write of whole lines to the newest journal, after what a killed writer left. */
  async #append(state: IndexState, lines: string, lock: IndexLock): Promise<void> {
    const { directory, world, sync } = this.#options;
    // Made before the check, so that whoever lost the lock may leave an empty journal behind, and no row.
    if (state.journal === 0) await nextJournal(state, this.#options);
    const path = journalPath(directory, state.journal);
    await lock.check();
    world.at("index:before-write");
    await this.#journal.use(path, async (handle, size) => {
      const isRead = size === state.offset;
      const append = () => (isRead ? writeLines(handle, path, lines, false) : appendSpoiling(handle, path, lines));
      const bytes = await during(path, "write", append);
      if (sync) await during(path, "sync", () => handle.datasync());
      await lock.check();
      if (isRead) await this.#took(state, size, bytes);
      else await this.#refresh();
    });
    world.at("index:after-sync");
  }

  /** What we wrote at `offset` need not be read again, unless somebody did already. */
  #took(state: IndexState, offset: number, bytes: Buffer): Promise<void> {
    return this.#queues.run("refresh", async () => {
      if (state.offset === offset) take(state, bytes);
    });
  }

  #refresh(): Promise<IndexState> {
    return this.#queues.run("refresh", async () => {
      const { directory, disk } = this.#options;
      const state = this.#state;
      const path = indexPath(directory);
      if (state !== undefined && (await during(path, "read", () => follow(disk, directory, state)))) return state;
      const loaded = await during(path, "read", () => loadIndex(disk, directory));
      for (const problem of loaded.problems) this.#options.onProblem(problem);
      this.#state = loaded;
      return loaded;
    });
  }

  /** A fold that fails leaves journals that are still right: it is reported and tried again at the next update. */
  async #fold(): Promise<boolean> {
    const { directory, disk, world, onProblem } = this.#options;
    try {
      const snapshot = await foldIndex({
        directory,
        disk,
        world,
        tryFold: () => this.#locks.tryFold(),
        locked: (work) =>
          this.#locked(async (state) => {
            const result = await work(state);
            await this.#refresh();
            return result;
          }),
      });
      if (snapshot !== undefined && this.#state !== undefined) {
        this.#state.snapshotId = snapshot.id;
        this.#state.snapshotBytes = snapshot.size;
        this.#state.journalBytes = this.#state.offset;
      }
      return snapshot !== undefined;
    } catch (error) {
      onProblem({ code: "fold_failed", what: String(error) });
      return false;
    }
  }
}

function isDue(state: IndexState | undefined, foldBytes: number = LIMITS.journalFoldBytes): boolean {
  return state !== undefined && state.journalBytes > Math.max(foldBytes, state.snapshotBytes);
}

/** What a batch of changes makes of the rows: the lines to write, and what everybody is told once they are durable. */
function changed(
  { rows }: IndexState,
  batch: readonly Waiting[],
  atMs: number,
): { readonly lines: string; readonly answers: readonly (() => void)[] } {
  const next = new Map<string, SessionRow | undefined>();
  let lines = "";
  const answers = batch.map(({ key, change, resolve, reject }) => {
    const before = next.has(key) ? next.get(key) : rows.get(key);
    try {
      const after = change(before);
      if (after === before) return () => resolve(before);
      lines += encodeJournalRow(key, after ?? null, atMs);
      next.set(key, after ?? undefined);
      return () => resolve(after ?? undefined);
    } catch (error) {
      return () => reject(error);
    }
  });
  return { lines, answers };
}

/** Takes in what was appended to the newest journal; false when anything else changed, so that all is read again. */
async function follow(disk: Disk, directory: string, state: IndexState): Promise<boolean> {
  if ((await fileId(disk, journalPath(directory, state.journal + 1))).id !== "") return false;
  if ((await fileId(disk, indexPath(directory))).id !== state.snapshotId) return false;
  if (state.journal === 0) return true;
  const { id, size } = await fileId(disk, journalPath(directory, state.journal));
  if (id === "" || size < state.offset) return false;
  if (size === state.offset) return true;
  await using handle = await disk.open(journalPath(directory, state.journal), "read");
  const bytes = Buffer.alloc(size - state.offset);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, state.offset);
  take(state, bytes.subarray(0, bytesRead));
  return true;
}

/** Takes in the whole lines of what stands in the newest journal from where it was read up to. */
function take(state: IndexState, bytes: Buffer): void {
  const seen: Replayed = { changes: new Map(), snapshots: [], problems: [] };
  const taken = replay(bytes, seen);
  applyChanges(state.rows, seen.changes);
  for (const key of seen.changes.keys()) state.newest.wrote(key);
  state.offset += taken;
  state.journalBytes += taken;
}
