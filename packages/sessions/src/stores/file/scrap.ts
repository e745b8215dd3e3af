/**
 * What killed writers leave behind: files on their way to a name that they never got.
 * Invariant: only names that nothing ever looks for are removed, and only when nobody has written to them for long.
 */
import { join } from "node:path";
import { errnoOf } from "@holdfast/base";
import type { Place } from "./disk.ts";
import { archivedNames } from "./list-logs.ts";

/** Transcripts, packed copies, indexes beside them: made under the lock, or under a name of one's own. */
const SCRAP = /\.(jsonl?|gz|idx)(\.[^.]+)?\.new$/;

export async function removeScrap(directory: string, ageMs: number, place: Place): Promise<void> {
  const { disk } = place;
  const archived = (await archivedNames(disk, directory)).map((name) => `archive/${name}`);
  for (const name of [...(await disk.list(directory)), ...archived]) {
    const path = join(directory, name);
    if (SCRAP.test(name) && (await isOld(path, ageMs, place))) await disk.remove(path);
  }
}

async function isOld(path: string, ageMs: number, { disk, world }: Place): Promise<boolean> {
  try {
    const { mtimeNs } = await disk.stat(path);
    return world.nowMs() - Number(mtimeNs / 1_000_000n) >= ageMs;
  } catch (error) {
    // Its maker has ended meanwhile.
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
