/**
 * The one door of the file store to a file system: everything it does on disk is one of these few operations.
 *
 * Invariant: nothing else in this folder imports `node:fs`, so a simulated disk that loses what was not synced drives
 * exactly the code that runs in production. An operation fails with the errno of the system (`code`), as Node's do.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  mkdirSync,
  read,
  realpathSync,
  statSync,
  write,
  writeSync,
} from "node:fs";
import { link, open, readdir, rename, rm } from "node:fs/promises";
import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import {
  type FileLocks,
  kernelLockAvailable,
  openRegularSync,
  realFileLocks,
  syncDirectory,
  type World,
} from "@holdfast/base";

/** How a store excludes writers; every process on it must use the same. */
export type LockMode = "kernel" | "sqlite" | "create";

export interface DiskStat {
  readonly dev: bigint;
  readonly ino: bigint;
  /** Bytes. */
  readonly size: bigint;
  /** Nanoseconds since 1970. */
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  isFile(): boolean;
}

/** An open file. Whoever opened it closes it, once. */
export interface DiskFile extends AsyncDisposable {
  /** Fewer bytes than `length` only at the end of the file, or when the system was interrupted. */
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  /** One `write(2)` at the end of the file. May be short; nothing is tried again. */
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  stat(options: { readonly bigint: true }): Promise<DiskStat>;
  /** Content and size are durable when it returns; after a failure nothing is known about what was not synced. */
  datasync(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `read`: for reading, must be there. The others for reading and for writing at the end: `append` must be there, `grow`
 * is created when missing, `new` must not be there (EEXIST). Created files are 0600; their name is durable only after
 * `syncDirectory`.
 */
export type OpenMode = "read" | "append" | "grow" | "new";

/** Paths are absolute. All methods may be called concurrently. */
export interface Disk {
  /** What is there and no file is refused, never waited for: `not_regular`, or EISDIR. */
  open(path: string, mode: OpenMode): Promise<DiskFile>;
  /** Follows links. */
  stat(path: string): Promise<DiskStat>;
  /** The same; undefined where nothing is, which is cheaper to be told than an error. */
  find(path: string): Promise<DiskStat | undefined>;
  /** Names in a directory, in no particular order. */
  list(path: string): Promise<readonly string[]>;
  /** Fails with EEXIST where `to` is there. */
  link(from: string, to: string): Promise<void>;
  /** Replaces `to`. */
  rename(from: string, to: string): Promise<void>;
  /** Writes the bytes of a file from `from` on over themselves, so that the next sync has to bring them to the disk. */
  renew(path: string, from: number): Promise<void>;
  /** Nothing to do where there is no such file. */
  remove(path: string): Promise<void>;
  /** One level, 0700. Fails with EEXIST where something is there, with ENOENT without a parent. */
  makeDirectory(path: string): Promise<void>;
  /** The names in a directory are durable when it returns. */
  syncDirectory(path: string): Promise<void>;
  realpath(path: string): Promise<string>;
  /** Gzip, for what is piped through. It works on threads of its own, as the device does: so it belongs to the disk. */
  readonly packing: { pack(): Transform; unpack(): Transform };
  readonly locks: FileLocks & { readonly mode: "kernel" | "sqlite" };
}

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  append: constants.O_RDWR | constants.O_APPEND,
  grow: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
  new: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL,
};

/** No descriptor: every call with it fails with EBADF. */
const CLOSED = 2 ** 31 - 1;

/** Writes up to this size are done where they are asked for. */
const SHORT_BYTES = 64 * 1024;

const pooled = {
  read: promisify(read),
  write: promisify(write),
  datasync: promisify(fdatasync),
  sync: promisify(fsync),
};

/**
 * What only touches the kernel's memory (names, sizes, a few lines) is done at once: a trip through the thread pool costs
 * ten times as much as the call, and an append would make nine of them. What may wait for the device goes through it.
 */
class RealFile implements DiskFile {
  #fd: number;
  readonly #running = new Set<Promise<unknown>>();

  constructor(path: string, mode: OpenMode) {
    this.#fd = openRegularSync(path, FLAGS[mode]);
  }

  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }> {
    return this.#pooled(pooled.read(this.#fd, into, offset, length, position));
  }

  async write(bytes: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }> {
    if (length > SHORT_BYTES) return this.#pooled(pooled.write(this.#fd, bytes, offset, length));
    return { bytesWritten: writeSync(this.#fd, bytes, offset, length) };
  }

  async stat(options: { readonly bigint: true }): Promise<DiskStat> {
    return fstatSync(this.#fd, options);
  }

  datasync(): Promise<void> {
    return this.#pooled(pooled.datasync(this.#fd));
  }

  sync(): Promise<void> {
    return this.#pooled(pooled.sync(this.#fd));
  }

  /** Waits for what is on its way, and forgets the number: that of a closed file is soon another file's. */
  async close(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    closeSync(this.#fd);
    this.#fd = CLOSED;
  }

  async #pooled<T>(call: Promise<T>): Promise<T> {
    this.#running.add(call);
    try {
      return await call;
    } finally {
      this.#running.delete(call);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function renew(path: string, from: number): Promise<void> {
  await using file = await open(path, "r+");
  const chunk = Buffer.allocUnsafe(SHORT_BYTES);
  for (let at = from; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    await file.write(chunk, 0, bytesRead, at);
    at += bytesRead;
  }
}

/** The file system of this machine. */
export const realDisk: Disk = {
  open: async (path, mode) => new RealFile(path, mode),
  stat: async (path) => statSync(path, { bigint: true }),
  find: async (path) => statSync(path, { bigint: true, throwIfNoEntry: false }),
  list: (path) => readdir(path),
  link,
  rename,
  renew,
  remove: (path) => rm(path, { force: true }),
  makeDirectory: async (path) => mkdirSync(path, { mode: 0o700 }),
  syncDirectory,
  realpath: async (path) => realpathSync.native(path),
  packing: { pack: () => createGzip(), unpack: () => createGunzip() },
  locks: {
    ...realFileLocks,
    get mode() {
      return kernelLockAvailable() ? ("kernel" as const) : ("sqlite" as const);
    },
  },
};

/** What a part of the store works with: where, when, and who it is. */
export interface Place {
  readonly disk: Disk;
  readonly world: World;
}
