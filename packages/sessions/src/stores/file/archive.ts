/**
 * Puts transcript files away and gets them back: only their names change, so the bytes are never at risk.
 *
 * Everything here happens under the write lock of the live file, whose lock file stays where it is: the numbers go on
 * when the transcript comes back.
 * Invariants: at every moment the transcript is whole, and durable, under one of its names; a packed copy takes the place
 * of the original only after it was read back and found equal.
 */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, LIMITS } from "@holdfast/base";
import { requestsPath } from "../../beside.ts";
import { SessionError } from "../../errors.ts";
import { sidecarPath } from "../../sidecar/sidecar-file.ts";
import type { Position } from "../../store.ts";
import type { Disk, DiskFile, Place } from "./disk.ts";
import { since } from "./position.ts";
import { during } from "./storage-error.ts";
import { ensureDirectory, writeAll } from "./whole-files.ts";

/** The live name of a transcript and the one it has in the archive; both absolute. */
export interface Names {
  readonly live: string;
  readonly archived: string;
}

export const packedPath = (path: string): string => `${path}.gz`;

/** `behind`: the log moved on past `expect`. `archived` also when it was done before. */
export async function archiveLog(
  { live, archived }: Names,
  expect: Position,
  { disk, world }: Place,
): Promise<"archived" | "behind" | "missing"> {
  if (!(await isThere(disk, live))) {
    const isAway = (await isThere(disk, archived)) || (await isThere(disk, packedPath(archived)));
    if (isAway) {
      await keepNames(disk, archived, live);
      await dropBeside(disk, live);
    }
    return isAway ? "archived" : "missing";
  }
  if (!(await standsAt(disk, live, expect))) return "behind";
  await during(archived, "open", () => ensureDirectory(disk, dirname(archived)));
  const isTaken = await isThere(disk, archived);
  if (isTaken && !(await isSame(disk, live, archived))) throw new SessionError("file_exists", { path: archived });
  world.at("archive:before-rename");
  if (isTaken) await dropName(disk, live, archived);
  else await move(disk, live, archived);
  world.at("archive:after-rename");
  await dropBeside(disk, live);
  return "archived";
}

/**
 * Left over at a crash they describe a file that is not there; doing it again, or destroying the transcript, removes them. What
 * was said in requests is gone durably.
 */
async function dropBeside(disk: Disk, live: string): Promise<void> {
  const requests = requestsPath(live);
  await during(live, "write", () => disk.remove(sidecarPath(live)));
  let found = false;
  for (const path of [requests, asideOf(requests)]) {
    found = (await isThere(disk, path)) || found;
    await during(live, "write", () => disk.remove(path));
  }
  if (found) await during(live, "sync", () => disk.syncDirectory(dirname(live)));
}

async function standsAt(disk: Disk, path: string, expect: Position): Promise<boolean> {
  await using file = await during(path, "open", () => disk.open(path, "read"));
  return (await since(file, expect)).since === "none";
}

/** `exists`: something else has the live name. `restored` also when it was done before. */
export async function restoreLog(
  { live, archived }: Names,
  { disk, world }: Place,
): Promise<"restored" | "exists" | "missing"> {
  const [isLive, isPlain] = [await isThere(disk, live), await isThere(disk, archived)];
  const packed = packedPath(archived);
  const isPacked = await isThere(disk, packed);
  if (isLive && isPlain && !(await isSame(disk, live, archived))) return "exists";
  if (isLive && isPacked && !(await during(packed, "read", () => isGrownFrom(disk, live, packed)))) return "exists";
  if (!isLive && !isPlain && !isPacked) return "missing";
  world.at("restore:before-rename");
  if (!isLive) await move(disk, isPlain ? archived : await unpack(disk, packed), live);
  else if (isPlain) await dropName(disk, archived, live);
  else await keepNames(disk, live, archived);
  world.at("restore:after-rename");
  for (const path of [besidePacked(packed), asideOf(packed)]) await during(path, "write", () => disk.remove(path));
  // What is live now, and durable, is the packed copy's original, or has grown from it.
  if (isPacked) await during(packed, "write", () => disk.remove(packed));
  if (isPacked) await during(packed, "sync", () => disk.syncDirectory(dirname(packed)));
  return "restored";
}

/**
 * For a moment under both names: a rename could be lost by halves, once somebody else syncs the directory it left and before
 * the one it went to is synced.
 */
async function move(disk: Disk, from: string, to: string): Promise<void> {
  await during(to, "link", () => disk.link(from, to));
  await dropName(disk, from, to);
}

/**
 * Both directories are synced: the name is durable where it is, and gone where it was. Also for what was moved before:
 * whoever did it may have been killed, or refused, in between.
 */
async function keepNames(disk: Disk, to: string, from: string): Promise<void> {
  await during(to, "sync", () => disk.syncDirectory(dirname(to)));
  await during(from, "sync", () => disk.syncDirectory(dirname(from)));
}

/** Killed in the middle of a move, it left one file under both names. */
async function isSame(disk: Disk, a: string, b: string): Promise<boolean> {
  const [one, other] = [await disk.stat(a), await disk.stat(b)];
  return one.dev === other.dev && one.ino === other.ino;
}

/** Whether a live file begins with what was packed. A packed copy that is damaged says nothing of the kind. */
async function isGrownFrom(disk: Disk, live: string, packed: string): Promise<boolean> {
  await using file = await disk.open(live, "read");
  await using source = await disk.open(packed, "read");
  let [at, isSo] = [0, true];
  const compare = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      const there = Buffer.alloc(chunk.length);
      const { bytesRead } = await file.read(there, 0, there.length, at);
      isSo &&= bytesRead === chunk.length && there.equals(chunk);
      at += chunk.length;
    }
  };
  try {
    await pipeline(Readable.from(chunksOf(source)), disk.packing.unpack(), compare);
  } catch (error) {
    if (errnoOf(error)?.startsWith("Z_") === true) return false;
    throw error;
  }
  return isSo;
}

async function dropName(disk: Disk, name: string, stays: string): Promise<void> {
  await during(stays, "sync", () => disk.syncDirectory(dirname(stays)));
  await during(name, "write", () => disk.remove(name));
  await during(name, "sync", () => disk.syncDirectory(dirname(name)));
}

const asideOf = (path: string): string => `${path}.new`;
const besidePacked = (packed: string): string => asideOf(`${packed}.plain`);

/** Replaces an archived file by a packed copy. False when there is nothing to pack. */
export async function packLog({ live, archived }: Names, { disk, world }: Place): Promise<boolean> {
  if (!(await isThere(disk, archived))) return false;
  if ((await isThere(disk, live)) && (await isSame(disk, live, archived))) {
    await dropName(disk, archived, live);
    return false;
  }
  // Whoever moved it may have been refused this: a packed copy would stand beside a live name that came back.
  await keepNames(disk, archived, live);
  const packed = packedPath(archived);
  const aside = asideOf(packed);
  await during(aside, "write", () => transcode(disk, archived, aside, "pack"));
  if ((await digestOf(disk, archived, "plain")) !== (await digestOf(disk, aside, "packed"))) {
    await disk.remove(aside);
    throw new SessionError("write_failed", { path: packed, step: "read", errno: "EIO", reason: "read back unequal" });
  }
  world.at("archive:before-pack");
  // Within one directory a name is there or not.
  await during(packed, "link", () => disk.rename(aside, packed));
  await during(packed, "sync", () => disk.syncDirectory(dirname(packed)));
  world.at("archive:after-pack");
  await during(archived, "write", () => disk.remove(archived));
  await during(archived, "sync", () => disk.syncDirectory(dirname(archived)));
  return true;
}

/** Destroys an archived file, packed or not, with what a crash left beside it. False when there is none. */
export async function discardLog({ live, archived }: Names, { disk, world }: Place): Promise<boolean> {
  const packed = packedPath(archived);
  const found = (await isThere(disk, archived)) || (await isThere(disk, packed));
  world.at("archive:before-discard");
  for (const path of [`${packed}.plain.new`, `${packed}.new`, packed, archived]) {
    await during(path, "write", () => disk.remove(path));
  }
  if (found) await during(archived, "sync", () => disk.syncDirectory(dirname(archived)));
  if (!(await isThere(disk, live))) await dropBeside(disk, live);
  world.at("archive:after-discard");
  return found;
}

/** The bytes of a packed file beside it, synced; the path they are at. */
async function unpack(disk: Disk, packed: string): Promise<string> {
  const aside = besidePacked(packed);
  await during(aside, "write", () => transcode(disk, packed, aside, "unpack"));
  return aside;
}

async function transcode(disk: Disk, from: string, to: string, how: "pack" | "unpack"): Promise<void> {
  await disk.remove(to);
  await using source = await disk.open(from, "read");
  await using target = await disk.open(to, "new");
  await pipeline(Readable.from(chunksOf(source)), disk.packing[how](), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await writeAll(target, chunk);
  });
  await target.sync();
}

async function digestOf(disk: Disk, path: string, how: "plain" | "packed"): Promise<string> {
  await using file = await disk.open(path, "read");
  const hash = createHash("sha256");
  const take = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) hash.update(chunk);
  };
  if (how === "plain") await take(chunksOf(file));
  else await pipeline(Readable.from(chunksOf(file)), disk.packing.unpack(), take);
  return hash.digest("hex");
}

async function* chunksOf(file: DiskFile): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafe(LIMITS.readChunkBytes);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    at += bytesRead;
  }
}

export async function isThere(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
