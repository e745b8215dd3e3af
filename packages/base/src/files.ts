/**
 * Small files that must be whole: written aside, synced, renamed, and the directory synced.
 * Without the last sync a power loss may bring the old name, or none, back.
 */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { World } from "./world.ts";

/** Syncs a directory so that the names in it survive power loss. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a directory and its parents, 0700. An existing one is left as it is. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Replaces `path` by `text` (0600), durably: readers see the old content or the new, never a mixture. */
export async function writeWhole(world: World, path: string, text: string | Uint8Array): Promise<void> {
  const aside = `${path}.${process.pid}.${world.newId("holder")}.tmp`;
  try {
    const handle = await open(aside, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    world.at("file:before-rename");
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
  world.at("file:after-rename");
}
