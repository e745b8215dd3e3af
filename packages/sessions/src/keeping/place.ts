/** A sessions directory opened for imports: its index, under the same locks as everybody else's. */
import { LIMITS, realWorld, type World } from "@holdfast/base";
import { type Disk, realDisk } from "../stores/file/disk.ts";
import { openFileStore } from "../stores/file/store.ts";
import type { SessionsProblem } from "../types.ts";
import type { ImportPlace } from "./import.ts";

/** Creates the directory (0700) if missing. Dispose of it. Throws `lock_mode_unavailable`, `write_failed`. */
export async function openImportPlace(
  directory: string,
  onProblem: (problem: SessionsProblem) => void,
  world: World = realWorld(),
  disk: Disk = realDisk,
): Promise<ImportPlace & AsyncDisposable> {
  const lock = {
    timeoutMs: LIMITS.writeLockTimeoutMs,
    staleMs: LIMITS.writeLockStaleMs,
    maxHoldMs: LIMITS.writeLockMaxHoldMs,
    onProblem,
  };
  const store = await openFileStore({ directory, lock, sync: true, onProblem }, { disk, world });
  return { directory, store, world, disk, [Symbol.asyncDispose]: () => store.close() };
}
