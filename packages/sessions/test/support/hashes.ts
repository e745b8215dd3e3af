/** What a folder holds, byte for byte: paths, sizes, hashes. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { sha256 } from "@holdfast/base";

export async function hashesOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashed = files.sort().map(async (file) => [relative(folder, file), sha256(await readFile(file))] as const);
  return Object.fromEntries(await Promise.all(hashed));
}
