/** The real disk, counting the bytes that are read of each file: a fact about reading that no clock disturbs. */
import type { Disk, DiskFile } from "@holdfast/sessions/internal";
import { realDisk } from "../../src/stores/file/disk.ts";

export interface CountingDisk {
  readonly disk: Disk;
  /** Bytes read of files with this ending since asked last. */
  taken(ending: string): number;
}

export function countingDisk(): CountingDisk {
  const bytes = new Map<string, number>();
  const counted = (path: string, file: DiskFile): DiskFile => ({
    read: async (...given) => {
      const read = await file.read(...given);
      bytes.set(path, (bytes.get(path) ?? 0) + read.bytesRead);
      return read;
    },
    write: (...given) => file.write(...given),
    stat: (options) => file.stat(options),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    close: () => file.close(),
    [Symbol.asyncDispose]: () => file.close(),
  });
  return {
    disk: { ...realDisk, open: async (path, mode) => counted(path, await realDisk.open(path, mode)) },
    taken(ending) {
      let sum = 0;
      for (const [path, count] of bytes) {
        if (!path.endsWith(ending)) continue;
        sum += count;
        bytes.delete(path);
      }
      return sum;
    },
  };
}
