/**
 * Kernel locks on files: exclusion that dies with its holder and that nobody has to guess about.
 *
 * An advisory lock of the open file (fs-native-extensions, optional), else SQLite's exclusive lock on the same path.
 * Only try-lock and timers: a blocking wait would sit in the thread pool that the syncs need.
 * Invariant: the inode is compared after locking, so a lock on a file that was replaced meanwhile does not count.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { BaseError, errnoOf } from "./errors.ts";
import { tryParse } from "./json.ts";
import { openRegularSync } from "./regular-file.ts";
import type { World } from "./world.ts";

interface Native {
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

/** A lock in our hands. `note` replaces the file's text (JSON for people and for liveness checks). */
export interface FileLock extends Disposable {
  readonly path: string;
  /** Not synced: the note explains, the kernel excludes. */
  note(value: unknown): void;
  /** Idempotent. The file stays. */
  release(): void;
}

/** A lock of this machine's kernel. */
export interface KernelLock extends FileLock {
  /** False once the file was removed or replaced under the lock: whoever comes now locks another file. Cheap. */
  stillHeld(): boolean;
}

/** The optional module, loaded at first use and kept: `null` where the platform has no prebuilt. */
const loaded: { native?: Native | null } = {};
function loadNative(): Native | null {
  if (loaded.native !== undefined) return loaded.native;
  try {
    loaded.native = createRequire(import.meta.url)("fs-native-extensions") as Native;
  } catch {
    loaded.native = null;
  }
  return loaded.native;
}

/** Whether this platform has the prebuilt kernel lock; without it SQLite's lock on `<path>.db` is used. */
export function kernelLockAvailable(): boolean {
  return loadNative() !== null;
}

function sameInode(fd: number, path: string): boolean {
  const mine = fstatSync(fd, { bigint: true });
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there !== undefined && mine.ino === there.ino && mine.dev === there.dev;
}

/** What is held stays reachable: a collected database handle would give its lock back without anybody asking for it. */
const held = new Set<() => void>();

function lockOf(path: string, fd: number, giveBack: () => void): KernelLock {
  const release = (): void => {
    if (held.delete(release)) giveBack();
  };
  held.add(release);
  return {
    path,
    note(value) {
      // Written before it is cut to length: a kill in between leaves the new first line, never an empty file.
      const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
      writeSync(fd, bytes, 0, bytes.length, 0);
      ftruncateSync(fd, bytes.length);
    },
    stillHeld: () => held.has(release) && sameInode(fd, path),
    release,
    [Symbol.dispose]: release,
  };
}

const SQLITE_BUSY = 5;

/**
 * SQLite would give a new file the mode that the umask allows. An existing file is never opened here: closing it would
 * drop the POSIX locks that SQLite holds on it for this process.
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function trySqlite(path: string, fd: number): KernelLock | undefined {
  const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as typeof import("node:sqlite");
  createPrivate(`${path}.db`);
  const db = new DatabaseSync(`${path}.db`, { timeout: 0 });
  try {
    db.exec("begin exclusive");
  } catch (error) {
    db.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return lockOf(path, fd, () => {
    db.close();
    closeSync(fd);
  });
}

function closingLock(path: string, fd: number, module: Native): KernelLock {
  return lockOf(path, fd, () => {
    module.unlock(fd);
    closeSync(fd);
  });
}

/** Takes the lock now or returns undefined. Creates the file (0600). Throws what `openRegularSync` throws (EACCES, ENOSPC, ...). */
export function tryFileLock(path: string): KernelLock | undefined {
  const fd = openRegularSync(path, constants.O_RDWR | constants.O_CREAT);
  const module = loadNative();
  let lock: KernelLock | undefined;
  try {
    if (module === null) lock = trySqlite(path, fd);
    else if (module.tryLock(fd)) lock = closingLock(path, fd, module);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  if (lock === undefined) {
    closeSync(fd);
    return undefined;
  }
  if (sameInode(fd, path)) return lock;
  lock.release();
  return tryFileLock(path);
}

function noteIn(text: string): unknown {
  return tryParse(text.split("\n", 1)[0] ?? "");
}

/** What the holder noted, or undefined. For messages; never for a decision about exclusion. */
export function readLockNote(path: string): unknown {
  let fd: number;
  try {
    fd = openRegularSync(path, constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return noteIn(readFileSync(fd, "utf8"));
  } finally {
    closeSync(fd);
  }
}

/**
 * A lock file that stays open for whoever locks it again and again. Open is not locked: each lock is taken anew, and a file
 * that was replaced since is opened anew.
 */
export interface KeptLock {
  /** As `tryFileLock`; its release leaves the file open. */
  tryLock(): FileLock | undefined;
  /** As `readLockNote`, for whoever holds the lock. Not to be changed: what was read before may be given again. */
  readNote(): unknown;
  /** Without a lock held. May be used again afterwards. */
  close(): void;
}

const NOTE_BYTES = 4096;

class OpenLock implements KeptLock {
  readonly #path: string;
  readonly #native: Native;
  #open: { readonly fd: number; readonly ino: bigint; readonly dev: bigint } | undefined;
  readonly #bytes = Buffer.alloc(NOTE_BYTES);
  #note: { readonly text: string; readonly value: unknown } = { text: "", value: undefined };

  constructor(path: string, native: Native) {
    this.#path = path;
    this.#native = native;
  }

  tryLock(): FileLock | undefined {
    for (;;) {
      const { fd } = this.#opened();
      if (!this.#native.tryLock(fd)) return undefined;
      if (this.#isAtPath()) return lockOf(this.#path, fd, () => this.#native.unlock(fd));
      this.#native.unlock(fd);
      this.close();
    }
  }

  readNote(): unknown {
    const { fd } = this.#opened();
    const length = readSync(fd, this.#bytes, 0, NOTE_BYTES, 0);
    if (length === NOTE_BYTES) return readLockNote(this.#path);
    const text = this.#bytes.toString("latin1", 0, length);
    if (text !== this.#note.text) this.#note = { text, value: noteIn(this.#bytes.toString("utf8", 0, length)) };
    return this.#note.value;
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) closeSync(open.fd);
  }

  #opened() {
    if (this.#open !== undefined) return this.#open;
    const fd = openRegularSync(this.#path, constants.O_RDWR | constants.O_CREAT);
    const { ino, dev } = fstatSync(fd, { bigint: true });
    this.#open = { fd, ino, dev };
    return this.#open;
  }

  #isAtPath(): boolean {
    const there = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return there !== undefined && there.ino === this.#open?.ino && there.dev === this.#open.dev;
  }
}

/**
 * Opens nothing yet. Undefined where nothing should be kept open: on a platform without this lock, and where other machines
 * may write, since there only opening a file anew shows what they wrote.
 */
export function keptFileLock(path: string): KeptLock | undefined {
  const module = loadNative();
  return module === null || !isLocal(dirname(path)) ? undefined : new OpenLock(path, module);
}

/** File systems of this machine alone, as statfs(2) numbers them: ext, xfs, btrfs, zfs, f2fs, bcachefs, tmpfs, overlay. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994, 0x794c7630,
]);

/** Whether nobody but this machine's kernel writes here, as far as that is known. */
function isLocal(directory: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    return LOCAL.has(statfsSync(directory).type);
  } catch {
    // Whoever opens something there is told why.
    return false;
  }
}

/** Where locks come from. The methods do as `tryFileLock`, `readLockNote` and `keptFileLock` say. */
export interface FileLocks {
  tryLock(path: string): FileLock | undefined;
  readNote(path: string): unknown;
  keep?(path: string): KeptLock | undefined;
  /** Whoever waits for a lock asks at least so often; left out: 50. */
  readonly pollMaxMs?: number;
}

/** The locks of this machine's kernel. */
export const realFileLocks: FileLocks = {
  tryLock: tryFileLock,
  readNote: readLockNote,
  keep: keptFileLock,
  get pollMaxMs() {
    // To ask the kernel costs a microsecond, to ask SQLite a hundred.
    return kernelLockAvailable() ? 3 : 50;
  },
};

/** Waits for the lock, asking again with jitter. Throws `lock_timeout`, or `signal.reason`. */
export async function fileLock(
  path: string,
  world: World,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal; readonly locks?: FileLocks },
): Promise<FileLock> {
  const { locks = realFileLocks } = options;
  const startedMs = world.monotonicMs();
  let waitMs = 1;
  for (;;) {
    const lock = locks.tryLock(path);
    if (lock !== undefined) return lock;
    if (world.monotonicMs() - startedMs >= options.timeoutMs) {
      const holder = JSON.stringify(locks.readNote(path) ?? "unknown");
      throw new BaseError("lock_timeout", { path, timeoutMs: options.timeoutMs, holder });
    }
    await world.sleep(waitMs * (0.5 + world.random()), options.signal);
    waitMs = Math.min(waitMs * 2, locks.pollMaxMs ?? 50);
  }
}
