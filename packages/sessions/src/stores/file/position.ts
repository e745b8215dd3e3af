/**
 * Where we stand in a file, and what happened to it since: the only place that looks at inode, size and times.
 * Invariant: `none` and `grown` mean that everything before the position is the same, as far as inode, size and the
 * 64 KiB before the position show it.
 */
import { LIMITS, sha256 } from "@holdfast/base";
import type { Position, Since } from "../../store.ts";
import type { DiskFile } from "./disk.ts";

interface Mark {
  readonly size: number;
  readonly dev: string;
  readonly ino: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  /** Digest of the last bytes before `size`. */
  readonly tail: string;
}

async function tailDigest(file: DiskFile, size: number): Promise<string> {
  const length = Math.min(size, LIMITS.tailCompareBytes);
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, size - length);
  return sha256(buffer.subarray(0, bytesRead));
}

async function statOf(file: DiskFile): Promise<Omit<Mark, "tail">> {
  const stat = await file.stat({ bigint: true });
  return {
    size: Number(stat.size),
    dev: String(stat.dev),
    ino: String(stat.ino),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
  };
}

// The two ends of the opaque value: nobody else looks into it.
function encode(mark: Mark): Position {
  return JSON.stringify(mark) as Position;
}
function decode(position: Position): Mark {
  return JSON.parse(position) as Mark;
}

/** The end of the file now. */
export async function positionOf(file: DiskFile): Promise<Position> {
  const stat = await statOf(file);
  return encode({ ...stat, tail: await tailDigest(file, stat.size) });
}

/** The byte offset of a position. */
export function offsetOf(position: Position): number {
  return decode(position).size;
}

/** What happened between `before` and now, and where the end is now. */
export async function since(
  file: DiskFile,
  before: Position,
): Promise<{ readonly since: Since; readonly position: Position; readonly size: number }> {
  const was = decode(before);
  const stat = await statOf(file);
  const sameFile = stat.ino === was.ino && stat.dev === was.dev;
  if (sameFile && stat.size === was.size && stat.mtimeNs === was.mtimeNs && stat.ctimeNs === was.ctimeNs) {
    return { since: "none", position: before, size: was.size };
  }
  const position = encode({ ...stat, tail: await tailDigest(file, stat.size) });
  const sameContent = stat.size >= was.size && (await tailDigest(file, was.size)) === was.tail;
  if (!sameContent) return { since: "rewritten", position, size: stat.size };
  if (!sameFile) return { since: "moved", position, size: stat.size };
  return { since: stat.size > was.size ? "grown" : "none", position, size: stat.size };
}
