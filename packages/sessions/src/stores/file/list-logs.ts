/**
 * What transcripts a directory holds, live and put away, by their names: for keeping, which must also find those that no
 * row names. Reads no transcript but the beginning of those that were asked for.
 */
import { gunzipSync, constants as zlib } from "node:zlib";
import { join } from "node:path";
import { errnoOf, isObject, LIMITS, tryParse } from "@holdfast/base";
import { parseArchived } from "../../archive-name.ts";
import { isSessionId } from "../../key.ts";
import { holderLiveness, parseRights } from "../../rights.ts";
import type { StoredLog } from "../../store.ts";
import { packedPath } from "./archive.ts";
import type { Disk, Place } from "./disk.ts";

const LIVE = /^([^.]+)\.jsonl$/;

/** Files whose names are not ids (indexes, copies, other programs') are not among them. */
export async function listLogs(directory: string, place: Place): Promise<readonly StoredLog[]> {
  const { disk } = place;
  const logs: StoredLog[] = [];
  for (const name of (await disk.list(directory)).toSorted()) {
    const [, id] = LIVE.exec(name) ?? [];
    if (!isSessionId(id)) continue;
    const leased = isLeased(disk.locks.readNote(`${join(directory, name)}.lock`), place.world.nowMs());
    logs.push(...(await logAt(disk, directory, { id, file: name, archived: null, packed: false, leased })));
  }
  for (const name of (await archivedNames(disk, directory)).toSorted()) {
    const file = `archive/${name.replace(/\.gz$/, "")}`;
    const archived = parseArchived(file);
    if (archived === undefined) continue;
    const packed = name.endsWith(".gz");
    // Where packing was interrupted both are there: the plain one counts.
    if (logs.some((log) => log.log.file === file)) continue;
    const about = { id: archived.id, file, archived, packed, leased: false };
    logs.push(...(await logAt(disk, directory, about)));
  }
  return logs;
}

export async function archivedNames(disk: Disk, directory: string): Promise<readonly string[]> {
  try {
    return await disk.list(join(directory, "archive"));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function logAt(
  disk: Disk,
  directory: string,
  about: Pick<StoredLog, "archived" | "packed" | "leased"> & { readonly id: string; readonly file: string },
): Promise<readonly StoredLog[]> {
  const { id, file, ...rest } = about;
  const path = join(directory, file);
  try {
    const { size, mtimeNs } = await disk.stat(about.packed ? packedPath(path) : path);
    return [{ log: { id, file }, bytes: Number(size), changedMs: Number(mtimeNs / 1_000_000n), ...rest }];
  } catch (error) {
    // Gone since the names were read.
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function isLeased(note: unknown, nowMs: number): boolean {
  const lease = parseRights(note)?.lease;
  return lease != null && lease.untilMs > nowMs && holderLiveness(lease.holder) !== "dead";
}

/** The first lines of a transcript, packed or not, as far as 64 KiB go. */
export async function firstLines(disk: Disk, path: string): Promise<readonly Record<string, unknown>[]> {
  await using file = await disk.open(path, "read");
  const buffer = Buffer.alloc(LIMITS.tailCompareBytes);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const bytes = buffer.subarray(0, bytesRead);
  const plain = path.endsWith(".gz") ? gunzipSync(bytes, { finishFlush: zlib.Z_SYNC_FLUSH }) : bytes;
  return plain.toString("utf8").split("\n").map(tryParse).filter(isObject);
}
