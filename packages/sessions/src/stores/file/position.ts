/**
 * Where we stand in a file, and what happened to it since: the only place that looks at inode, size and times.
 * Invariant: `none` and `grown` mean that everything before the position is the same, as far as inode, size and the
 * 64 KiB before the position show it.
 */
import { LIMITS } from "@holdfast/base";
import type { Position, Since } from "../../store.ts";
import type { DiskFile } from "./disk.ts";

interface Mark {
  readonly size: number;
  readonly dev: string;
  readonly ino: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  /** The last bytes before `size`, a character each: to keep them costs less than a digest at each append. */
  readonly tail: string;
}

async function tailBefore(file: DiskFile, size: number): Promise<string> {
  const length = Math.min(size, LIMITS.tailCompareBytes);
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, size - length);
  return buffer.toString("latin1", 0, bytesRead);
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

// The two ends of the opaque value: nobody else looks into it. The tail may hold any character, so it comes last.
function encode({ size, dev, ino, mtimeNs, ctimeNs, tail }: Mark): Position {
  return `${size} ${dev} ${ino} ${mtimeNs} ${ctimeNs}\n${tail}` as Position;
}
function decode(position: Position): Mark {
  const end = position.indexOf("\n");
  const [size, dev = "", ino = "", mtimeNs = "", ctimeNs = ""] = position.slice(0, end).split(" ");
  return { size: Number(size), dev, ino, mtimeNs, ctimeNs, tail: position.slice(end + 1) };
}

/** The end of the file now. */
export async function positionOf(file: DiskFile): Promise<Position> {
  const stat = await statOf(file);
  return encode({ ...stat, tail: await tailBefore(file, stat.size) });
}

/** The end of the file after `written` was added at `before`; if anybody else wrote too, the file is asked. */
export async function positionAfter(file: DiskFile, before: Position, written: Buffer): Promise<Position> {
  const was = decode(before);
  const stat = await statOf(file);
  if (stat.size !== was.size + written.length) return positionOf(file);
  const tail = was.tail + written.toString("latin1", Math.max(0, written.length - LIMITS.tailCompareBytes));
  return encode({ ...stat, tail: tail.slice(-LIMITS.tailCompareBytes) });
}

/** The byte offset of a position. */
export function offsetOf(position: Position): number {
  return decode(position).size;
}

/** Whether a line without its line feed stands before the position. */
export function isTorn(position: Position): boolean {
  return decode(position).size > 0 && !position.endsWith("\n");
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
  const position = encode({ ...stat, tail: await tailBefore(file, stat.size) });
  const sameContent = stat.size >= was.size && (await tailBefore(file, was.size)) === was.tail;
  if (!sameContent) return { since: "rewritten", position, size: stat.size };
  if (!sameFile) return { since: "moved", position, size: stat.size };
  return { since: stat.size > was.size ? "grown" : "none", position, size: stat.size };
}
