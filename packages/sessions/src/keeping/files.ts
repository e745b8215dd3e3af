/**
 * Steps on files that the keeping of transcripts shares.
 * Invariant: a name that is taken stays whose it is; a file of the same content counts as written before.
 */
import { LIMITS } from "@holdfast/base";
import { SessionError } from "../errors.ts";
import { type ByteSource, openSource } from "../reading/source.ts";
import type { Disk } from "../stores/file/disk.ts";
import type { NewFile } from "./new-file.ts";

const NAMES_MAX = 1000;

/** Appends bytes of a source and a line feed, in pieces: a damaged line may be of any length. */
export async function copyRange(
  source: ByteSource,
  range: { readonly offset: number; readonly bytes: number },
  to: NewFile,
): Promise<void> {
  const end = range.offset + range.bytes;
  for (let at = range.offset; at < end; at += LIMITS.readChunkBytes) {
    await to.write(await source.read(at, Math.min(LIMITS.readChunkBytes, end - at)));
  }
  await to.write("\n");
}

/**
 * Names the file `path`, or the same with `-2`, `-3`, ... before its ending where that name has another content.
 * Returns the path under which the content is there. Throws `file_exists` when all names are taken.
 */
export async function namedFree(file: NewFile, path: string): Promise<string> {
  await file.finish();
  for (let number = 1; number <= NAMES_MAX; number++) {
    const name = number === 1 ? path : numbered(path, number);
    if ((await file.name(name)) || (await sameContent(file.aside, name, file.disk))) return name;
  }
  throw new SessionError("file_exists", { path });
}

function numbered(path: string, number: number): string {
  const ending = /\.[a-z]+$/.exec(path)?.[0] ?? "";
  return `${path.slice(0, path.length - ending.length)}-${number}${ending}`;
}

async function sameContent(a: string, b: string, disk: Disk): Promise<boolean> {
  await using left = await openSource(a, disk);
  await using right = await openSource(b, disk);
  if (left.size !== right.size) return false;
  for (let at = 0; at < left.size; at += LIMITS.readChunkBytes) {
    const [one, other] = await Promise.all([left, right].map((each) => each.read(at, LIMITS.readChunkBytes)));
    if (one === undefined || other === undefined || !one.equals(other)) return false;
  }
  return true;
}
