/**
 * Looks up `g` and `t` in the log itself, for when the note in the lock file is lost or may lag behind.
 * Lines without numbers are other programs'; a line that cannot be read has none.
 */
import { isObject, LIMITS, tryParse } from "@holdfast/base";
import type { DiskFile } from "./disk.ts";

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
