/**
 * Opening what has to be a regular file.
 * Invariant: nothing waits for the other end of a pipe, and not a byte is read from or written to a pipe, a socket or a
 * device that stands in the place of a file.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { BaseError, errnoOf } from "./errors.ts";

/** The descriptor is the caller's. Throws `not_regular`, else what opening throws; for a directory that is EISDIR. */
export function openRegularSync(path: string, flags: number, mode = 0o600): number {
  const fd = opened(path, () => openSync(path, flags | constants.O_NONBLOCK, mode));
  try {
    refuseOther(path, fstatSync(fd));
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

/** All of a file as UTF-8. Throws as `openRegularSync` does. */
export async function readText(path: string): Promise<string> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error) =>
    refuse(path, error),
  );
  refuseOther(path, await handle.stat());
  return handle.readFile("utf8");
}

function opened(path: string, open: () => number): number {
  try {
    return open();
  } catch (error) {
    return refuse(path, error);
  }
}

/** A socket refuses to be opened by itself. */
function refuse(path: string, error: unknown): never {
  throw errnoOf(error) === "ENXIO" ? new BaseError("not_regular", { path, what: "a socket" }, error) : error;
}

function refuseOther(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: "EISDIR", path });
  throw new BaseError("not_regular", { path, what: stats.isFIFO() ? "a pipe" : "a device" });
}
