/**
 * What a file is at one moment, as evidence: its content's hash and the numbers that move when anybody touches it.
 * Invariant: two equal states mean that the file was not touched in between, as far as the file system can tell.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errnoOf, type Json, type JsonObject, sha256 } from "@holdfast/base";

/** JSON; inode and times in nanoseconds are decimal strings, size is in bytes. */
export type FileState =
  | { readonly exists: false }
  | {
      readonly exists: true;
      readonly sha256: string;
      readonly size: number;
      readonly inode: string;
      readonly mtimeNs: string;
      readonly ctimeNs: string;
    };

/**
 * Reads a file whole, with its state. `path` is a real path: a link that was put there since it was judged is not followed
 * (ELOOP). Waits for no other end (pipes); throws what opening throws, but for ENOENT.
 */
export async function readState(path: string): Promise<{ readonly state: FileState; readonly bytes: Uint8Array }> {
  const absent = { state: { exists: false }, bytes: new Uint8Array() } as const;
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const bytes = await handle.readFile();
    const stat = await handle.stat({ bigint: true });
    const numbers = { inode: String(stat.ino), mtimeNs: String(stat.mtimeNs), ctimeNs: String(stat.ctimeNs) };
    return { state: { exists: true, sha256: sha256(bytes), size: bytes.length, ...numbers }, bytes };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return absent;
    throw error;
  }
}

/** Whether the file is as it was when the evidence was taken: the same file, and nobody touched it since. */
export function untouched(now: FileState, before: Json | undefined): boolean {
  if (typeof before !== "object" || before === null || Array.isArray(before)) return false;
  const evidence = before as JsonObject;
  if (!now.exists) return evidence.exists === false;
  const fields = ["exists", "sha256", "size", "inode", "mtimeNs", "ctimeNs"] as const;
  return fields.every((field) => evidence[field] === now[field]);
}
