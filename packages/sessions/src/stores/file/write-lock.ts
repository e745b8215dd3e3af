/**
 * The write lock of one transcript file: a kernel lock on `<file>.lock`, and the numbers that are kept in it.
 *
 * Held for `lock → catch up → append → sync → unlock`, never while waiting for the outside world. First come, first
 * served within the process; jittered across processes.
 * Invariant: the lock file is never unlinked while its transcript may be opened, so everybody locks the same inode.
 */
import { BaseError, type FileLock, fileLock, identityOf, isObject } from "@holdfast/base";
import { SessionError } from "../../errors.ts";
import { parseRights, type Rights } from "../../rights.ts";
import type { Place } from "./disk.ts";
import { during, storageError } from "./storage-error.ts";

export interface LockOptions {
  readonly timeoutMs: number;
  readonly maxHoldMs: number;
}

/** The write lock in our hands. */
export interface WriteLock {
  /** What the last holder left, or undefined when the note is lost: then the log has to be asked. */
  readonly rights: Rights | undefined;
  /** Keeps these numbers for the next holder. Not synced: after power loss the log is asked. */
  keep(rights: Rights): void;
}

/** A queue per name: whoever asks first runs first, one at a time. */
export class Queues {
  readonly #tails = new Map<string, Promise<void>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    const done = before.then(work);
    const tail = done.then(
      () => {},
      () => {},
    );
    this.#tails.set(name, tail);
    try {
      return await done;
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}

/** Takes a kernel lock, turning what can go wrong into this package's errors. */
export async function takeLock(path: string, { disk, world }: Place, timeoutMs: number): Promise<FileLock> {
  try {
    return await fileLock(path, world, { timeoutMs, locks: disk.locks });
  } catch (error) {
    if (error instanceof BaseError && error.code === "lock_timeout") {
      throw new SessionError("lock_timeout", { ...error.details, path }, error);
    }
    throw storageError(error, path, "lock");
  }
}

function noteRights(lock: FileLock, note: object): void {
  try {
    lock.note(note);
  } catch (error) {
    throw storageError(error, lock.path, "lock");
  }
}

/** The write locks of one store, or of one bare file. */
export class WriteLocks {
  readonly #place: Place;
  readonly #options: LockOptions;
  readonly #queues = new Queues();
  #token: string | undefined;

  constructor(place: Place, options: LockOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** Says in the note who wrote last: the same writer keeps its generation. Made when needed: readers need none. */
  get token(): string {
    this.#token ??= this.#place.world.newId("holder");
    return this.#token;
  }

  /** Runs `work` holding the lock of the transcript at `path` (a real path). Throws `lock_timeout`, `lock_mode_unavailable`. */
  async hold<T>(path: string, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    return this.#queues.run(path, async () => {
      const lock = await takeLock(`${path}.lock`, this.#place, this.#options.timeoutMs);
      const startedMs = this.#place.world.monotonicMs();
      try {
        return await during(path, "read", async () => work(this.#open(path, lock)));
      } finally {
        lock.release();
        this.#warnIfLong(path, startedMs);
      }
    });
  }

  #open(path: string, lock: FileLock): WriteLock {
    const { mode: own, readNote } = this.#place.disk.locks;
    const note = readNote(lock.path);
    const mode = isObject(note) ? note.mode : undefined;
    if (typeof mode === "string" && mode !== own) {
      throw new SessionError("lock_mode_unavailable", {
        path,
        mode,
        have: own,
      });
    }
    return {
      rights: parseRights(note),
      keep: (rights) => noteRights(lock, { mode: own, ...rights, by: identityOf(this.token) }),
    };
  }

  #warnIfLong(path: string, startedMs: number): void {
    const heldMs = Math.round(this.#place.world.monotonicMs() - startedMs);
    if (heldMs < this.#options.maxHoldMs) return;
    const stack = new Error("held here").stack ?? "";
    process.emitWarning(`The write lock of ${path} was held for ${heldMs} ms, which is a bug.\n${stack}`);
  }
}
