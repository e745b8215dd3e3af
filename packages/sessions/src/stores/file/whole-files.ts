/**
 * Files that are read or written as a whole, over any disk.
 * Invariant: a file made here is complete and synced before anybody gives it its final name.
 */
import { dirname } from "node:path";
import { errnoOf, LIMITS } from "@holdfast/base";
import type { Disk, DiskFile, OpenMode } from "./disk.ts";

/**
 * A directory and its parents, each 0700 and durable before anything is made in it. One that is there is left as it is;
 * its name is made durable too, since whoever made it may have been killed before that.
 */
export async function ensureDirectory(disk: Disk, path: string): Promise<void> {
  const made = await make(disk, path);
  if (made === "orphan") {
    await ensureDirectory(disk, dirname(path));
    return ensureDirectory(disk, path);
  }
  if (made === "made") await keepName(disk, dirname(path));
  await keepName(disk, path);
}

async function keepName(disk: Disk, path: string): Promise<void> {
  try {
    await disk.syncDirectory(dirname(path));
  } catch (error) {
    // Who may not read a directory has not made anything in it.
    if (errnoOf(error) !== "EACCES") throw error;
  }
}

async function make(disk: Disk, path: string): Promise<"made" | "there" | "orphan"> {
  try {
    await disk.makeDirectory(path);
    return "made";
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && dirname(path) !== path) return "orphan";
    if (errnoOf(error) === "EEXIST" && !(await disk.stat(path)).isFile()) return "there";
    throw error;
  }
}

/** Undefined when it is not there. */
export async function openIfThere(disk: Disk, path: string, mode: OpenMode): Promise<DiskFile | undefined> {
  try {
    return await disk.open(path, mode);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** All bytes of a file. */
export async function readWholeFile(disk: Disk, path: string): Promise<Buffer> {
  await using file = await disk.open(path, "read");
  const size = Number((await file.stat({ bigint: true })).size);
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, await readAt(file, bytes, 0));
}

/** All bytes of a file, or undefined when it is not there. */
export async function readIfThere(disk: Disk, path: string): Promise<Buffer | undefined> {
  try {
    return await readWholeFile(disk, path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Fills `into` from `position`; returns how much there was. */
async function readAt(file: DiskFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** Writes all of `bytes`, in as many writes as it takes: only for files that nobody else sees yet. */
export async function writeAll(file: DiskFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done);
    if (bytesWritten === 0) throw Object.assign(new Error("The disk took nothing of a write."), { code: "ENOSPC" });
    done += bytesWritten;
  }
}

/** A file of its own with this content, synced; one of that name that is there is replaced. */
export async function writeNewFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await disk.remove(path);
  await using file = await disk.open(path, "new");
  await writeAll(file, bytes);
  await file.sync();
}

/** Copies `from` to `to` through `<to>.new`: `to` is the old content or all of the new, synced. */
export async function copyWhole(disk: Disk, from: string, to: string): Promise<void> {
  const aside = `${to}.new`;
  await disk.remove(aside);
  await using source = await disk.open(from, "read");
  await using target = await disk.open(aside, "new");
  const chunk = Buffer.allocUnsafe(LIMITS.readChunkBytes);
  for (let at = 0; ; ) {
    const length = await readAt(source, chunk, at);
    if (length === 0) break;
    await writeAll(target, chunk.subarray(0, length));
    at += length;
  }
  await target.sync();
  await disk.rename(aside, to);
}
