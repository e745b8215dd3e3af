/**
 * Where we stand in a file, and what happened to it since: the only place that looks at inode, size and times.
 * Invariant: `none` and `grown` mean that everything before the position is the same, as far as inode, size and the
 * 64 KiB before the position show it.
 */
import { LIMITS } from "@holdfast/base";
import type { FileMark } from "../../sidecar/slots.ts";
import type { Position, Since } from "../../store.ts";
import type { DiskFile, DiskStat } from "./disk.ts";

/** As the rest of the engine sees it this is opaque. */
interface FilePosition extends FileMark {
  /** The bytes before the position, 64 KiB at most: a part of what several positions in one file share. */
  readonly room: Room;
  readonly start: number;
  readonly end: number;
}

/** Bytes as they stand in the file. Only ever added to, so what a position sees of them stays as it was. */
interface Room {
  readonly bytes: Buffer;
  used: number;
}

const TAIL_BYTES = LIMITS.tailCompareBytes;
const ROOM_BYTES_MIN = 4096;

function read(position: Position): FilePosition {
  return position as unknown as FilePosition;
}

function position(stat: DiskStat, tail: Pick<FilePosition, "room" | "start" | "end">): Position {
  const { dev, ino, mtimeNs, ctimeNs } = stat;
  return { size: Number(stat.size), dev, ino, mtimeNs, ctimeNs, ...tail } as FilePosition as unknown as Position;
}

function tailOf({ room, start, end }: FilePosition): Buffer {
  return room.bytes.subarray(start, end);
}

function wholeRoom(bytes: Buffer): Pick<FilePosition, "room" | "start" | "end"> {
  return { room: { bytes, used: bytes.length }, start: 0, end: bytes.length };
}

/** The tail after `written`. To keep the bytes costs less than to read and digest them again at each append. */
function tailAfter(before: FilePosition, written: Buffer): Pick<FilePosition, "room" | "start" | "end"> {
  const end = before.end + written.length;
  // Another position may have grown from the same one: then these bytes are not ours to write.
  if (before.room.used === before.end && end <= before.room.bytes.length) {
    written.copy(before.room.bytes, before.end);
    before.room.used = end;
    return { room: before.room, start: Math.max(before.start, end - TAIL_BYTES), end };
  }
  const kept = Buffer.concat([tailOf(before), written].map((bytes) => bytes.subarray(-TAIL_BYTES))).subarray(
    -TAIL_BYTES,
  );
  const bytes = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES_MIN, 2 * kept.length));
  kept.copy(bytes);
  return { room: { bytes, used: kept.length }, start: 0, end: kept.length };
}

async function tailBefore(file: DiskFile, size: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(buffer, 0, length, size - length);
  return buffer.subarray(0, bytesRead);
}

async function readPosition(file: DiskFile, stat: DiskStat): Promise<Position> {
  const size = Number(stat.size);
  return position(stat, wholeRoom(await tailBefore(file, size, Math.min(size, TAIL_BYTES))));
}

/** The end of a file that looks like `stat` and ends with `end`: 64 KiB or more, or all of it. */
export function positionAt(stat: DiskStat, end: Buffer): Position {
  return position(stat, wholeRoom(Buffer.from(end.subarray(-TAIL_BYTES))));
}

/** The end of the file now. */
export async function positionOf(file: DiskFile): Promise<Position> {
  return readPosition(file, await file.stat({ bigint: true }));
}

/** The end of the file after `written` was added at `before`; if anybody else wrote too, the file is asked. */
export async function positionAfter(file: DiskFile, before: Position, written: Buffer): Promise<Position> {
  const stat = await file.stat({ bigint: true });
  if (Number(stat.size) !== offsetOf(before) + written.length) return readPosition(file, stat);
  return position(stat, tailAfter(read(before), written));
}

/** The byte offset of a position. */
export function offsetOf(position: Position): number {
  return read(position).size;
}

/** What the file looked like at a position. */
export function markOf(position: Position): FileMark {
  return read(position);
}

/** Whether a line without its line feed stands before the position. */
export function isTorn(position: Position): boolean {
  const { room, start, end } = read(position);
  return end > start && room.bytes[end - 1] !== 0x0a;
}

/** What happened between `before` and now, and where the end is now. `stat`: what the file looks like, if that was asked. */
export async function since(
  file: DiskFile,
  before: Position,
  stat?: DiskStat,
): Promise<{ readonly since: Since; readonly position: Position; readonly size: number }> {
  const now = stat ?? (await file.stat({ bigint: true }));
  const size = Number(now.size);
  const was = read(before);
  const isSameFile = now.ino === was.ino && now.dev === was.dev;
  const isSameTime = now.mtimeNs === was.mtimeNs && now.ctimeNs === was.ctimeNs;
  if (isSameFile && isSameTime && size === was.size) return { since: "none", position: before, size };
  const tail = tailOf(was);
  const position = await readPosition(file, now);
  const sameContent = size >= was.size && (await tailBefore(file, was.size, tail.length)).equals(tail);
  if (!sameContent) return { since: "rewritten", position, size };
  if (!isSameFile) return { since: "moved", position, size };
  return { since: size > was.size ? "grown" : "none", position, size };
}
