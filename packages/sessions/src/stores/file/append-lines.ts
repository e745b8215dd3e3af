/**
 * The one way bytes are added to a file of lines: one `write` of whole lines at its end.
 * Invariant: what a killed or failed writer left without a line feed is sealed in the same write; no byte is changed.
 */
import { SessionError } from "../../errors.ts";
import type { DiskFile } from "./disk.ts";

async function endsWithoutLineFeed(file: DiskFile): Promise<boolean> {
  const size = Number((await file.stat({ bigint: true })).size);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/**
 * `file` is open for reading and appending, `text` ends with a line feed. A short write throws `write_failed`: the
 * lines that did land whole are there, the torn one is sealed by whoever writes next. Returns what was written; does not sync.
 */
export async function appendLines(file: DiskFile, path: string, text: string): Promise<Buffer> {
  return writeLines(file, path, text, await endsWithoutLineFeed(file));
}

/**
 * The same, but what is torn does not become a line, not even if only its line feed is missing: readers have passed over
 * it, and what they said since would be undone by it.
 */
export async function appendSpoiling(file: DiskFile, path: string, text: string): Promise<Buffer> {
  const isTorn = await endsWithoutLineFeed(file);
  return writeLines(file, path, isTorn ? `${TORN}${text}` : text, false);
}

/** After JSON, and after part of it, this is none. */
const TORN = " (torn)\n";

/** The same for a caller who knows whether the last line is torn. */
export async function writeLines(file: DiskFile, path: string, text: string, isTorn: boolean): Promise<Buffer> {
  const bytes = Buffer.from(isTorn ? `\n${text}` : text);
  const { bytesWritten } = await file.write(bytes, 0, bytes.length);
  if (bytesWritten === bytes.length) return bytes;
  throw new SessionError("write_failed", {
    path,
    step: "write",
    errno: "short write",
    reason: `${bytesWritten} bytes`,
  });
}
