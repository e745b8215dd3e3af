/**
 * Puts whole content in the place of a file: written aside in the same directory, synced, renamed, the directory synced.
 *
 * Invariant: at any instant the file holds the old content or the new, and the rename is the one effect that counts. The
 * scrap is named after the action, so that a second attempt removes what the first one left.
 */
import type { Stats } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "@holdfast/base";
import type { ToolContext } from "../types.ts";

export function scrapOf(path: string, key: string): string {
  return join(dirname(path), `.holdfast-${key.slice(0, 16)}.tmp`);
}

/** Creates missing parents. An overwritten file keeps its mode and, where this process may, its owner. */
export async function replaceFile(
  path: string,
  content: Uint8Array,
  { context, before }: { readonly context: ToolContext; readonly before: Stats | null },
): Promise<void> {
  const created = await mkdir(dirname(path), { recursive: true });
  const scrap = scrapOf(path, context.key);
  await rm(scrap, { force: true });
  try {
    await writeScrap(scrap, content, before);
    context.world.at("write:before-rename");
    await rename(scrap, path);
    context.world.at("write:after-rename");
  } catch (error) {
    await rm(scrap, { force: true });
    throw error;
  }
  for (const directory of directoriesOf(path, created)) await syncDirectory(directory);
}

async function writeScrap(scrap: string, content: Uint8Array, before: Stats | null): Promise<void> {
  await using handle = await open(scrap, "wx", before === null ? 0o644 : 0o600);
  await handle.writeFile(content);
  if (before !== null) {
    if (process.getuid?.() === 0) await handle.chown(before.uid, before.gid);
    await handle.chmod(before.mode & 0o7777);
  }
  await handle.sync();
}

/** From the file's directory up to the parent of the topmost one that was created. */
function directoriesOf(path: string, created: string | undefined): readonly string[] {
  const last = created === undefined ? dirname(path) : dirname(created);
  const directories = [dirname(path)];
  for (let at = dirname(path); at !== last; at = dirname(at)) directories.push(dirname(at));
  return directories;
}
