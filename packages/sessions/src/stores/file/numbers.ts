/**
 * Looks up `g` and `t` in the log itself, for when the note in the lock file is lost or may lag behind.
 * Lines without numbers are other programs'; a line that cannot be read has none.
 */
import { isObject, LIMITS, tryParse } from "@holdfast/base";
import { backward, backwardBatches } from "../../reading/lines.ts";
import { peek } from "../../reading/peek.ts";
import { fileSource, memorySource } from "../../reading/source.ts";
import { NO_RIGHTS, type Rights } from "../../rights.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { openIfThere } from "./whole-files.ts";
import type { WriteLock } from "./write-lock.ts";

interface Numbers {
  readonly g: number;
  readonly t: number;
}

const G_FIELD = Buffer.from('"g":');
const TURN_KIND = Buffer.from('"holdfast:turn"');

/** `tail` looks at whole lines in the last 64 KiB; `all` goes back until both numbers were met or the file begins. */
export async function numbersInLog(file: DiskFile, how: "tail" | "all"): Promise<Numbers> {
  const log = await fileSource(file);
  const begin = how === "all" ? 0 : Math.max(0, log.size - LIMITS.tailCompareBytes);
  const source = how === "all" ? log : memorySource(await log.read(begin, log.size - begin));
  const found = { g: 0, t: 0 };
  for await (const batch of backwardBatches(source)) {
    for (const { bytes, offset } of batch) if (bytes !== null && (begin === 0 || offset > 0)) collect(bytes, found);
    if (found.g > 0 && found.t > 0) break;
  }
  return found;
}

/** Takes what is not found yet; only a line that may have a number is parsed. */
function collect(line: Buffer, found: { g: number; t: number }): void {
  if (found.g === 0 && line.includes(G_FIELD)) found.g = numberIn(line.toString(), "g");
  if (found.t === 0 && line.includes(TURN_KIND)) found.t = numberIn(line.toString(), "t");
}

function numberIn(line: string, name: "g" | "t"): number {
  const entry = tryParse(line);
  if (!isObject(entry)) return 0;
  const holder = name === "t" && isObject(entry.data) ? entry.data : entry;
  const value = name === "t" && entry.customType !== "holdfast:turn" ? 0 : (holder[name] ?? entry[name]);
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

/** Under which numbers this writer writes now: a generation of its own whenever somebody else wrote last. */
export async function rightsNow(handle: DiskFile, lock: WriteLock, token: string): Promise<Rights> {
  if (lock.rights?.writer === token && lock.mode !== "create") return lock.rights;
  const seen = await numbersInLog(handle, lock.rights === undefined ? "all" : "tail");
  const kept = lock.rights ?? { ...NO_RIGHTS, t: seen.t };
  const greatest = lock.mode === "create" ? Math.max(seen.g, await greatestG(handle)) : seen.g;
  const t = Math.max(kept.t, seen.t);
  if (kept.writer === token && greatest <= kept.g) return { ...kept, t };
  return { ...kept, g: Math.max(kept.g, greatest) + 1, t, writer: token };
}

/** The numbers kept for the log at `path`, looked up in the log itself where the note is lost or may be outdated. */
export async function keptRights(disk: Disk, path: string, lock: WriteLock): Promise<Rights> {
  if (lock.rights !== undefined && lock.mode !== "create") return lock.rights;
  const handle = await openIfThere(disk, path, "read");
  if (handle === undefined) return lock.rights ?? NO_RIGHTS;
  try {
    const seen = await numbersInLog(handle, lock.rights === undefined ? "all" : "tail");
    const kept = lock.rights ?? NO_RIGHTS;
    return { ...kept, g: Math.max(kept.g, seen.g), t: Math.max(kept.t, seen.t) };
  } finally {
    await handle.close();
  }
}

/**
 * The greatest generation near the end. Where a lock can be taken from somebody who wakes later, neither the note nor the
 * last line is enough: he may have written either after his time.
 */
async function greatestG(file: DiskFile): Promise<number> {
  let greatest = 0;
  let found: number | undefined;
  for await (const { bytes, offset } of backward(await fileSource(file))) {
    const g = (bytes === null ? null : peek(bytes)?.g) ?? 0;
    if (g > 0) found ??= offset;
    greatest = Math.max(greatest, g);
    if (found !== undefined && found - offset > LIMITS.tailCompareBytes) break;
  }
  return greatest;
}
