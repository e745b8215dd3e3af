/**
 * Bytes to read a transcript from, wherever they are. A source is a snapshot: it never shows bytes beyond `size`, so a
 * file that grows meanwhile reads the same. It never changes anything.
 */
import { BaseError, errnoOf } from "@holdfast/base";
import { SessionError } from "../errors.ts";
import { type Disk, type DiskFile, realDisk } from "../stores/file/disk.ts";
import { openUnpacked } from "./packed.ts";

export interface ByteSource {
  /** Bytes, fixed when the source was made. */
  readonly size: number;
  /** Up to `length` bytes from `offset`; fewer only where the bytes end. Others may be given the same bytes: do not change them. */
  read(offset: number, length: number): Promise<Buffer>;
  /**
   * The same into a buffer of the caller's, for those who read much: new memory costs more than reading. Returns how
   * much of it was filled.
   */
  readInto?(into: Buffer, offset: number): Promise<number>;
}

/** Bytes in memory. They are not copied: do not change them while reading. */
export function memorySource(data: Uint8Array | string): ByteSource {
  const bytes =
    typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { size: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) };
}

/** What is needed of an open file; Node's `FileHandle` has it. */
interface Readable {
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  stat(options: { readonly bigint: true }): Promise<{ readonly size: bigint }>;
}

/** An open file as long as it is now (or up to `size`). The handle stays the caller's. */
export async function fileSource(handle: Readable, size?: number): Promise<ByteSource> {
  const end = size ?? Number((await handle.stat({ bigint: true })).size);
  return {
    size: end,
    read: async (offset, length) => {
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, end - offset)));
      return buffer.subarray(0, await fill(handle, buffer, offset));
    },
    readInto: (into, offset) => fill(handle, into.subarray(0, Math.max(0, end - offset)), offset),
  };
}

/** The same source with both ends read already: whoever opens a transcript asks for them more than once. */
export interface SourceWithEnds extends ByteSource {
  /** The last bytes, up to `endBytes`. */
  readonly end: Buffer;
}

const BEGIN_BYTES = 4096;

/** Reads the beginning and up to `endBytes` of the end at once. */
export async function withEnds(source: ByteSource, endBytes: number): Promise<SourceWithEnds> {
  const from = Math.max(0, source.size - endBytes);
  const [begin, end] = await Promise.all([
    from === 0 ? undefined : source.read(0, Math.min(BEGIN_BYTES, from)),
    source.read(from, endBytes),
  ]);
  return {
    ...source,
    end,
    read: async (offset, length) => {
      if (offset >= from) return end.subarray(offset - from, offset - from + length);
      const isBegin = begin !== undefined && offset + length <= begin.length;
      return isBegin ? begin.subarray(offset, offset + length) : source.read(offset, length);
    },
  };
}

async function fill(handle: Readable, buffer: Buffer, offset: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** A source that owns its file. */
export interface OpenSource extends ByteSource, AsyncDisposable {
  readonly path: string;
}

/** A packed one (`<path>.gz`) stands in for a file that is not there. */
async function openPlain(path: string, disk: Disk): Promise<Omit<DiskFile, "write" | "datasync" | "sync">> {
  try {
    return await disk.open(path, "read");
  } catch (error) {
    const unpacked = errnoOf(error) === "ENOENT" && disk === realDisk ? await openUnpacked(path) : undefined;
    if (unpacked === undefined) throw error;
    return unpacked;
  }
}

/** Opens a transcript for reading only, also one that is packed. Throws `file_missing`, `not_a_file`, `read_failed`. */
export async function openSource(path: string, disk: Disk = realDisk): Promise<OpenSource> {
  const handle = await openPlain(path, disk).catch((error: unknown) => refuse(path, error));
  try {
    const stats = await handle.stat({ bigint: true }).catch((error: unknown) => refuse(path, error));
    if (!stats.isFile()) throw new SessionError("not_a_file", { path });
    const source = await fileSource(handle, Number(stats.size));
    const read = (offset: number, length: number): Promise<Buffer> =>
      source.read(offset, length).catch((error: unknown) => refuse(path, error));
    return { path, size: source.size, read, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function refuse(path: string, error: unknown): never {
  if (error instanceof BaseError && error.code === "not_regular") throw new SessionError("not_a_file", { path }, error);
  const errno = errnoOf(error);
  if (errno === "ENOENT" || errno === "ENOTDIR") throw new SessionError("file_missing", { path }, error);
  if (errno === "EISDIR" || errno === "ENXIO") throw new SessionError("not_a_file", { path }, error);
  throw new SessionError("read_failed", { path, errno: errno ?? "unknown" }, error);
}
