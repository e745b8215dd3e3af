/**
 * A packed transcript, to be looked at: unpacked into a private file that has no name any more.
 * Invariant: the archive is not touched, memory stays small, and nothing is left behind when the reader ends or dies.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { errnoOf } from "@holdfast/base";

/** The content of `<path>.gz`, or undefined when there is no such file. The handle is the caller's. */
export async function openUnpacked(path: string): Promise<FileHandle | undefined> {
  const packed = `${path}.gz`;
  if (!(await isFile(packed))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  try {
    const handle = await open(join(folder, "transcript"), "wx+", 0o600);
    try {
      await pipeline(createReadStream(packed), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) await handle.appendFile(chunk);
      });
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** False where nothing is there, or something else. */
export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
