/**
 * The write lock of one transcript file, and the numbers that are kept in `<file>.lock`.
 *
 * In mode `kernel` (or `sqlite`, where the kernel has no lock to give) the lock is on that file and dies with its holder;
 * in mode `create` it is a file of its own (create-lock.ts). Held for `lock → catch up → append → sync → unlock`, never
 * while waiting for the outside world. First come, first served within the process; jittered across processes.
 * Invariant: `<file>.lock` stays where it is while its transcript may be opened, so nobody forgets the numbers.
 */
import { BaseError, type FileLock, fileLock, identityOf, isObject, tryParse } from "@holdfast/base";
import { SessionError } from "../../errors.ts";
import { parseRights, type Rights } from "../../rights.ts";
import type { SessionsProblem } from "../../types.ts";
import { type CreatedLock, CreateLocks } from "./create-lock.ts";
import type { LockMode, Place } from "./disk.ts";
import { closeKept, type Kept, KeptFiles, type Run } from "./kept-files.ts";
import { during, storageError } from "./storage-error.ts";
import { readIfThere, writeAll } from "./whole-files.ts";

export interface LockOptions {
  readonly timeoutMs: number;
  /** Mode `create`: how long a lock that cannot be checked must go without renewal before it is taken over. */
  readonly staleMs: number;
  readonly maxHoldMs: number;
  /** Left out: what the note of the file says, else the best this machine has. */
  readonly mode?: LockMode;
  readonly onProblem: (problem: SessionsProblem) => void;
}

/** The write lock in our hands. */
export interface WriteLock {
  readonly mode: LockMode;
  /** What the last holder left, or undefined when the note is lost: then the log has to be asked. */
  readonly rights: Rights | undefined;
  /** It was taken over from somebody who may still write: a fence comes first, then `fenced`. */
  readonly mustFence: boolean;
  /** What may stay open when the hold ends; undefined where every file is opened under each lock. */
  readonly kept: Kept | undefined;
  fenced(): Promise<void>;
  /** Throws `stale_fence` when the lock is not ours any more. */
  check(): Promise<void>;
  /** Keeps these numbers for the next holder. Not synced: after power loss the log is asked. Throws `stale_fence`. */
  keep(rights: Rights): Promise<void>;
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

/** Holds that follow each other sooner are one run. */
const APART_MS = 5;
/** A run that lasts so long is interrupted, for longer than anybody who waits takes to ask again. */
const RUN_MS = 100;
const PAUSE_MS = 6;

/**
 * Between two holds of one process the lock is free for some microseconds only, which another process would hardly ever
 * meet: so after a while this one stands back.
 */
async function standBack(run: Run, { world }: Place): Promise<void> {
  const nowMs = world.monotonicMs();
  if (nowMs - run.lastMs > APART_MS) run.sinceMs = nowMs;
  if (nowMs - run.sinceMs < RUN_MS) return;
  await world.sleep(PAUSE_MS);
  run.sinceMs = world.monotonicMs();
}

/** Takes a kernel lock, turning what can go wrong into this package's errors. `kept`: the file of the lock, if it stays open. */
export async function takeLock(
  path: string,
  place: Place,
  timeoutMs: number,
  { lock: kept, run }: Pick<Kept, "lock" | "run">,
): Promise<FileLock> {
  const { tryLock, readNote, pollMaxMs } = place.disk.locks;
  const locks = { tryLock: kept === undefined ? tryLock : () => kept.tryLock(), readNote, pollMaxMs };
  await standBack(run, place);
  try {
    return await fileLock(path, place.world, { timeoutMs, locks });
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
  readonly #created: CreateLocks;
  readonly #kept: KeptFiles;
  #token: string | undefined;

  constructor(place: Place, options: LockOptions) {
    this.#place = place;
    this.#options = options;
    this.#created = new CreateLocks(place, options);
    this.#kept = new KeptFiles(place);
  }

  /** Says in the note who wrote last: the same writer keeps its generation. Made when needed: readers need none. */
  get token(): string {
    this.#token ??= this.#place.world.newId("holder");
    return this.#token;
  }

  /**
   * Runs `work` holding the lock of the transcript at `path` (a real path). Throws `lock_timeout`, `lock_mode_unavailable`,
   * `stale_fence`.
   */
  async hold<T>(path: string, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    return this.#queues.run(path, () => {
      const mode = this.#options.mode ?? this.#noted(path) ?? this.#place.disk.locks.mode;
      return mode === "create" ? this.#holdCreated(path, work) : this.#holdKernel(path, work);
    });
  }

  /** The mode that a file outside of a store was locked in before. */
  #noted(path: string): "create" | undefined {
    if (this.#kept.has(path)) return undefined;
    const note = this.#place.disk.locks.readNote(`${path}.lock`);
    return isObject(note) && note.mode === "create" ? "create" : undefined;
  }

  /** An index was put beside the transcript at `path`: the next hold looks for it. */
  indexMade(path: string): void {
    this.#kept.indexMade(path);
  }

  /** Closes the files that stayed open between holds. */
  close(): Promise<void> {
    return this.#kept.closeAll();
  }

  async #holdKernel<T>(path: string, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    const kept = this.#kept.take(path);
    try {
      const result = await this.#holdKept(path, kept, work);
      this.#kept.giveBack(path, kept);
      return result;
    } catch (error) {
      await closeKept(kept);
      throw error;
    }
  }

  async #holdKept<T>(path: string, kept: Kept, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    const lock = await takeLock(`${path}.lock`, this.#place, this.#options.timeoutMs, kept);
    using _watch = this.#watch(path);
    try {
      return await during(path, "read", async () => work(this.#openKernel(path, lock, kept)));
    } finally {
      lock.release();
      kept.run.lastMs = this.#place.world.monotonicMs();
    }
  }

  #openKernel(path: string, lock: FileLock, kept: Kept): WriteLock {
    const { mode, readNote } = this.#place.disk.locks;
    const note = kept.lock === undefined ? readNote(lock.path) : kept.lock.readNote();
    checkMode(path, note, mode);
    return {
      mode,
      rights: parseRights(note),
      mustFence: false,
      kept: kept.lock && kept,
      fenced: async () => {},
      check: async () => {},
      keep: async (rights) => noteRights(lock, { mode, ...rights, by: identityOf(this.token) }),
    };
  }

  async #holdCreated<T>(path: string, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    const lock = await this.#created.take(path);
    using _watch = this.#watch(path);
    try {
      return await during(path, "read", async () => work(await this.#openCreated(path, lock)));
    } catch (error) {
      // Its note may have come late, over a newer one with the same number: what is under this name proves nothing now.
      if (error instanceof SessionError && error.code === "stale_fence") this.#token = undefined;
      throw error;
    } finally {
      await lock.release();
    }
  }

  async #openCreated(path: string, lock: CreatedLock): Promise<WriteLock> {
    const { disk } = this.#place;
    const notePath = `${path}.lock`;
    const note = tryParse((await readIfThere(disk, notePath))?.toString("utf8") ?? "");
    checkMode(path, note, "create");
    const check = async (): Promise<void> => {
      this.#place.world.at("lock:before-check");
      if (!(await lock.isOurs())) throw new SessionError("stale_fence", { path, g: "a newer one" });
    };
    let rights = parseRights(note);
    return {
      mode: "create",
      get rights() {
        return rights;
      },
      mustFence: lock.evidence.length > 0,
      kept: undefined,
      fenced: () => lock.clear(),
      check,
      keep: async (next) => {
        await check();
        const text = JSON.stringify({ mode: "create", ...next, by: identityOf(this.token) });
        await during(notePath, "lock", () => replaceNote(this.#place, notePath, text));
        // Nobody is told of a number that was kept too late: whoever has the lock by now may have given it to another.
        await check();
        rights = next;
      },
    };
  }

  /** A hold that takes so long is a bug, and nobody takes the lock from its holder: a person has to know. */
  #watch(path: string): Disposable {
    const { maxHoldMs, onProblem } = this.#options;
    // Its text is made when somebody reads it.
    const here = new Error("held here");
    const watch = this.#place.world.every(maxHoldMs, () => {
      watch[Symbol.dispose]();
      onProblem({ code: "lock_held_long", what: `${path} for more than ${maxHoldMs} ms\n${here.stack}` });
    });
    return watch;
  }
}

function checkMode(path: string, note: unknown, have: LockMode): void {
  const mode = isObject(note) ? note.mode : undefined;
  if (typeof mode === "string" && mode !== have) throw new SessionError("lock_mode_unavailable", { path, mode, have });
}

/** Readers see the old note or the new one. */
async function replaceNote({ disk }: Place, path: string, text: string): Promise<void> {
  const aside = `${path}.new`;
  await disk.remove(aside);
  {
    await using file = await disk.open(aside, "new");
    await writeAll(file, Buffer.from(`${text}\n`));
  }
  await disk.rename(aside, path);
}
