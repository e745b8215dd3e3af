/**
 * Reads a large file of lines in pieces, handing on whole lines as text: between two pieces the process does other things.
 * Invariant: a last line without its line feed is not handed on; its writer may still be at it.
 */
import { createHash } from "node:crypto";
import { errnoOf } from "@holdfast/base";
import { forwardBatches } from "../../reading/lines.ts";
import { type ByteSource, fileSource } from "../../reading/source.ts";
import type { Disk } from "./disk.ts";

export interface LinesRead {
  /** Bytes of the file, and of its whole lines. */
  readonly size: number;
  readonly end: number;
}

/** Calls `take` with each line, in order. Undefined when there is no such file. Lines that are too long come as "". */
export async function takeLines(
  disk: Disk,
  path: string,
  take: (line: string) => void,
): Promise<LinesRead | undefined> {
  await using file = await disk.open(path, "read").catch(noneIfMissing);
  return file && (await takeFrom(await fileSource(file), take));
}

/** The same, with the SHA-256 of all bytes. */
export async function takeLinesHashed(
  disk: Disk,
  path: string,
  take: (line: string) => void,
): Promise<(LinesRead & { readonly hash: string }) | undefined> {
  await using file = await disk.open(path, "read").catch(noneIfMissing);
  if (file === undefined) return undefined;
  const source = await fileSource(file);
  const hash = createHash("sha256");
  const read = async (offset: number, length: number): Promise<Buffer> => {
    const bytes = await source.read(offset, length);
    hash.update(bytes);
    return bytes;
  };
  const lines = await takeFrom({ size: source.size, read }, take);
  return { ...lines, hash: hash.digest("hex") };
}

function noneIfMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}

async function takeFrom(source: ByteSource, take: (line: string) => void): Promise<LinesRead> {
  let end = 0;
  for await (const batch of forwardBatches(source)) {
    for (const line of batch) {
      if (!line.ended) continue;
      take(line.bytes?.toString("utf8") ?? "");
      end = line.offset + line.length + 1;
    }
  }
  return { size: source.size, end };
}
