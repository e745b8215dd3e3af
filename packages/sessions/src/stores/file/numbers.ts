/**
 * Looks up `g` and `t` in the log itself, for when the note in the lock file is lost or may lag behind.
 * Lines without numbers are other programs'; a line that cannot be read has none.
 */
import { isObject, LIMITS, tryParse } from "@holdfast/base";
import { backward } from "../../reading/lines.ts";
import { peek } from "../../reading/peek.ts";
import { fileSource } from "../../reading/source.ts";
import { NO_RIGHTS, type Rights } from "../../rights.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { openIfThere } from "./whole-files.ts";
import type { WriteLock } from "./write-lock.ts";

interface Numbers {
  readonly g: number;
  readonly t: number;
}

const G_FIELD = '"g":';
const TURN_KIND = '"holdfast:turn"';

/** `tail` looks at the last 64 KiB; `all` goes back until both numbers were met or the file begins. */
export async function numbersInLog(file: DiskFile, how: "tail" | "all"): Promise<Numbers> {
  const step = how === "tail" ? LIMITS.tailCompareBytes : LIMITS.readChunkBytes;
  let end = Number((await file.stat({ bigint: true })).size);
  let rest: Buffer = Buffer.alloc(0);
  const found = { g: 0, t: 0 };
  while (end > 0) {
    const start = Math.max(0, end - step);
    const chunk = Buffer.allocUnsafe(end - start);
    await file.read(chunk, 0, chunk.length, start);
    const whole = Buffer.concat([chunk, rest]);
    const cut = start === 0 ? 0 : whole.indexOf(0x0a) + 1;
    collect(whole.subarray(cut === 0 && start > 0 ? whole.length : cut), found);
    if (how === "tail" || (found.g > 0 && found.t > 0)) break;
    rest = whole.subarray(0, cut === 0 ? whole.length : cut);
    end = start;
  }
  return found;
}

/** Takes the numbers of the last line that has them; only lines that may have one are parsed. */
function collect(bytes: Buffer, found: { g: number; t: number }): void {
  for (const [field, name] of [
    [G_FIELD, "g"],
    [TURN_KIND, "t"],
  ] as const) {
    let at = found[name] > 0 ? -1 : bytes.lastIndexOf(field);
    while (at >= 0 && found[name] === 0) {
      const start = bytes.lastIndexOf(0x0a, at) + 1;
      found[name] = numberIn(lineAt(bytes, start), name);
      at = start < 2 ? -1 : bytes.lastIndexOf(field, start - 2);
    }
  }
}

function lineAt(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0x0a, start);
  return bytes.toString("utf8", start, end < 0 ? bytes.length : end);
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
