/**
 * Where we stand in a file, and what happened to it since: the only place that looks at inode, size and times.
 * Invariant: `none` and `grown` mean that everything before the position is the same, as far as inode, size and the
 * 64 KiB before the position show it.
 */
import { LIMITS } from "@holdfast/base";
import type { FileMark } from "../../sidecar/slots.ts";
import type { Position, Since } from "../../store.ts";
import type { DiskFile, DiskStat } from "./disk.ts";

interface Stat {
  readonly size: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** The last bytes before the end of a file are kept up to this, and cut to `tailCompareBytes` when they are more. */
const TAIL_CHARACTERS = LIMITS.tailCompareBytes + 48 * 1024;

async function statOf(file: DiskFile): Promise<Stat> {
  const { size, dev, ino, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
  return { size: Number(size), dev, ino, mtimeNs, ctimeNs };
}

async function tailBefore(file: DiskFile, size: number, length: number): Promise<string> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, size - length);
  return buffer.toString("latin1", 0, bytesRead);
}

/*
 * The opaque value: what `stat` says in a line, then the bytes before the end, a character each. To keep the bytes costs
 * less than to read them again and digest them at each append; the line comes first, so most questions look no further.
 */
function headOf({ size, dev, ino, mtimeNs, ctimeNs }: Stat): string {
  return `${size} ${dev} ${ino} ${mtimeNs} ${ctimeNs}\n`;
}

function statIn(position: Position): Stat {
  const [size, ...others] = position.slice(0, position.indexOf("\n")).split(" ");
  const [dev = 0n, ino = 0n, mtimeNs = 0n, ctimeNs = 0n] = others.map(BigInt);
  return { size: Number(size), dev, ino, mtimeNs, ctimeNs };
}

function tailIn(position: Position): string {
  return position.slice(position.indexOf("\n") + 1);
}

async function readPosition(file: DiskFile, stat: Stat): Promise<Position> {
  const tail = await tailBefore(file, stat.size, Math.min(stat.size, LIMITS.tailCompareBytes));
  return (headOf(stat) + tail) as Position;
}

/** The end of a file that looks like `stat` and ends with `end`: 64 KiB or more, or all of it. */
export function positionAt(stat: DiskStat, end: Buffer): Position {
  return position(stat, wholeRoom(Buffer.from(end.subarray(-TAIL_BYTES))));
}

/** The end of the file now. */
export async function positionOf(file: DiskFile): Promise<Position> {
  return readPosition(file, await statOf(file));
}

/** The end of the file after `written` was added at `before`; if anybody else wrote too, the file is asked. */
export async function positionAfter(file: DiskFile, before: Position, written: Buffer): Promise<Position> {
  const stat = await statOf(file);
  if (stat.size !== offsetOf(before) + written.length) return readPosition(file, stat);
  const tail = tailIn(before) + written.toString("latin1");
  return (headOf(stat) + (tail.length > TAIL_CHARACTERS ? tail.slice(-LIMITS.tailCompareBytes) : tail)) as Position;
}

/** The byte offset of a position. */
export function offsetOf(position: Position): number {
  return Number.parseInt(position, 10);
}

/** What the file looked like at a position. */
export function markOf(position: Position): FileMark {
  return statIn(position);
}

/** Whether a line without its line feed stands before the position. */
export function isTorn(position: Position): boolean {
  return offsetOf(position) > 0 && !position.endsWith("\n");
}

/** What happened between `before` and now, and where the end is now. */
export async function since(
  file: DiskFile,
  before: Position,
): Promise<{ readonly since: Since; readonly position: Position; readonly size: number }> {
  const stat = await statOf(file);
  if (before.startsWith(headOf(stat))) return { since: "none", position: before, size: stat.size };
  const was = statIn(before);
  const tail = tailIn(before);
  const position = await readPosition(file, stat);
  const sameContent = stat.size >= was.size && (await tailBefore(file, was.size, tail.length)) === tail;
  if (!sameContent) return { since: "rewritten", position, size: stat.size };
  if (stat.ino !== was.ino || stat.dev !== was.dev) return { since: "moved", position, size: stat.size };
  return { since: stat.size > was.size ? "grown" : "none", position, size: stat.size };
}
