/** A transcript long enough to have an index beside it, made without the code under test. */
import { appendFile, writeFile } from "node:fs/promises";
import type { Entry } from "../../src/entry.ts";
import { fileOf, HEADER, user } from "./make.ts";

export function chain(from: number, to: number, bytes = 600): Entry[] {
  const parent = (n: number) => (n === 0 ? null : `e${n - 1}`);
  return Array.from({ length: to - from }, (_, n) => user(`e${from + n}`, parent(from + n), "x".repeat(bytes)));
}

/** 600 entries `e0`, `e1`, ... one under the other; about 400 KiB. */
export async function writeLong(path: string, count = 600): Promise<void> {
  await writeFile(path, fileOf(chain(0, count), HEADER));
}

export async function appendLines(path: string, entries: readonly Entry[]): Promise<void> {
  await appendFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}
