/**
 * The workspace's wall: which file a path means, and whether it may be touched.
 *
 * Invariant: a path is judged by where it leads after symbolic links, not by how it is spelled; else a link in the workspace
 * would open the whole disk. (A command that runs at the same moment could still move a directory; `exec` has no wall.)
 */
import { constants, type Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { errnoOf } from "@holdfast/base";

export type Place =
  | { readonly kind: "inside"; readonly path: string; readonly shown: string; readonly stat: Stats | null }
  | { readonly kind: "refused"; readonly text: string };

/** Where `path` leads; `stat` is null when nothing is there. Changes nothing. */
export async function placeIn(workspace: string, path: string): Promise<Place> {
  if (path.trim() === "") return refuse("The path is empty.");
  if (path.includes("\0")) return refuse("The path holds a NUL character.");
  const root = await realpath(workspace);
  const asked = resolve(workspace, path);
  const real = await realOf(asked);
  if (real === undefined)
    return refuse(`${path} passes through a symbolic link that leads nowhere, or through a file.`);
  if (real !== root && !real.startsWith(root + sep)) {
    return refuse(`${path} is outside the workspace. Only files in ${workspace} can be read or written.`);
  }
  const found = await statOf(real);
  if (found?.isDirectory()) return refuse(`${path} is a directory. Name a file.`);
  if (found !== null && !found.isFile()) return refuse(`${path} is not a regular file.`);
  return { kind: "inside", path: real, shown: relative(root, real), stat: found };
}

function refuse(text: string): Place {
  return { kind: "refused", text };
}

/** The real path of the deepest existing part, with the missing rest appended; undefined where a link leads nowhere. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOTDIR" || code === "ELOOP") return undefined;
    if (code !== "ENOENT") throw error;
  }
  if (await isLink(path)) return undefined;
  const parent = await realOf(dirname(path));
  return parent === undefined ? undefined : join(parent, path.slice(dirname(path).length));
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Why this file must not be written, or null. A file or directory without its owner's write bit was made read-only on
 * purpose: that counts also for root, whom the kernel would let through.
 */
export async function readOnlyRefusal(place: Extract<Place, { readonly kind: "inside" }>): Promise<string | null> {
  if (place.stat !== null && isReadOnly(place.stat)) return `permission denied: ${place.shown} is read-only`;
  for (let directory = dirname(place.path); ; directory = dirname(directory)) {
    const found = await statOf(directory);
    if (found === null) continue;
    const shown = place.shown.slice(0, Math.max(0, place.shown.length - (place.path.length - directory.length))) || ".";
    if (!found.isDirectory()) return `${shown} is not a directory`;
    return isReadOnly(found) ? `permission denied: ${shown}/ is read-only` : null;
  }
}

function isReadOnly(found: Stats): boolean {
  return (found.mode & constants.S_IWUSR) === 0;
}
