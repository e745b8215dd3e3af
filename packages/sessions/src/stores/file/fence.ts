/**
 * Fences: what keeps a writer that lost its lock and does not know it from being believed.
 *
 * Whoever takes a lock over from a holder that may still write puts a fence line first: lines after it with a smaller
 * generation are stale for every reader. The fence is written before anything was caught up with, so its parent may be
 * outdated and no reader takes it for the leaf.
 * Invariant: nothing is acknowledged that stands behind a higher fence, or in a file that is not the one at its path.
 */
import { encodeEntry, identify, isCustom, parseLine } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { CURRENT_VERSION } from "../../reading/header.ts";
import { forward } from "../../reading/lines.ts";
import { fileSource } from "../../reading/source.ts";
import { readTail } from "../../reading/tail.ts";
import { appendLines } from "./append-lines.ts";
import type { Disk, DiskFile, Place } from "./disk.ts";
import { rightsNow } from "./numbers.ts";
import { during } from "./storage-error.ts";
import { openIfThere } from "./whole-files.ts";
import type { WriteLock } from "./write-lock.ts";

/** A log that is open for a commit, under its lock. */
export interface Held {
  readonly handle: DiskFile;
  readonly path: string;
  readonly lock: WriteLock;
  readonly disk: Disk;
}

/** Fences a log, durably; one that is not there, or of a version that nobody writes, needs none. */
export async function fenceLog(
  path: string,
  lock: WriteLock,
  place: Place & { readonly token: string },
): Promise<void> {
  const { disk } = place;
  const handle = await during(path, "open", () => openIfThere(disk, path, "append"));
  try {
    if (handle !== undefined) await writeFence({ handle, path, lock, disk }, place);
    await lock.fenced();
  } finally {
    await handle?.close();
  }
}

async function writeFence({ handle, path, lock }: Held, { world, token }: Place & { token: string }): Promise<void> {
  const loaded = await readTail(await fileSource(handle));
  if (loaded.version < CURRENT_VERSION) return;
  const kept = await rightsNow(handle, lock, token);
  // Whoever had the lock may have been this writer, in a hold that it gave up.
  const g = kept.writer === lock.rights?.writer ? kept.g + 1 : kept.g;
  await lock.keep({ ...kept, g });
  const timestamp = new Date(world.nowMs()).toISOString();
  const fields = { type: "custom", timestamp, g, customType: "holdfast:fence", data: { g } };
  const fence = identify(fields, world.newId("entry"), loaded.path.at(-1)?.id ?? null);
  world.at("fence:before-write");
  await during(path, "write", () => appendLines(handle, path, `${encodeEntry(fence)}\n`));
  await during(path, "sync", () => handle.datasync());
  world.at("fence:after-sync");
}

/** What was written from `from` on under `g` counts: the lock is still ours, the file too, and no higher fence came before. */
export async function confirmWritten({ handle, path, lock, disk }: Held, from: number, g: number): Promise<void> {
  if (lock.mode !== "create") return;
  await lock.check();
  await using now = await during(path, "open", () => openIfThere(disk, path, "read"));
  const [mine, there] = [await handle.stat({ bigint: true }), await now?.stat({ bigint: true })];
  const isMine = there?.ino === mine.ino && there.dev === mine.dev;
  if (now === undefined || !isMine) throw new SessionError("stale_fence", { path, g: "another file" });
  for await (const { bytes } of forward(await fileSource(now), from)) {
    const higher = bytes === null ? 0 : fenceIn(bytes);
    if (higher > g) throw new SessionError("stale_fence", { path, g: higher });
  }
}

function fenceIn(line: Buffer): number {
  const parsed = parseLine(line);
  return parsed.kind === "entry" && isCustom(parsed.entry, "holdfast:fence") ? (parsed.entry.g ?? 0) : 0;
}
