/**
 * Action folders on a simulated disk: as `diskFolders` of the agent has them, each step an operation of the machine.
 * Invariant: the order of writes and syncs is that of the real ones, so that a death between two of them is tried.
 */
import type { ActionFolders } from "@holdfast/agent/internal";
import type { Disk } from "@holdfast/sessions/internal";

export async function makeFolder(disk: Disk, path: string): Promise<void> {
  await disk.makeDirectory(path).catch((error: { readonly code?: string }) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** The whole file, "" where there is none. */
export async function readWhole(disk: Disk, path: string): Promise<string> {
  try {
    await using file = await disk.open(path, "read");
    const size = Number((await file.stat({ bigint: true } as never)).size);
    const bytes = Buffer.alloc(size);
    await file.read(bytes, 0, size, 0);
    return bytes.toString("utf8");
  } catch (error) {
    if ((error as { readonly code?: string }).code === "ENOENT") return "";
    throw error;
  }
}

/** Below `root`, which is there. */
export function simulatedFolders(disk: Disk, root: string): ActionFolders {
  const folder = (key: string): string => `${root}/${key}`;
  const record = (key: string): string => `${folder(key)}/record.jsonl`;
  return {
    attempt: (key, number) => `${folder(key)}/${number}`,
    async lock(key) {
      await makeFolder(disk, folder(key));
      await disk.syncDirectory(root);
      return disk.locks.tryLock(`${folder(key)}/lock`);
    },
    async makeAttempt(key, number) {
      await makeFolder(disk, `${folder(key)}/${number}`);
      await disk.syncDirectory(folder(key));
      return `${folder(key)}/${number}`;
    },
    readRecord: (key) => readWhole(disk, record(key)),
    async addToRecord(key, text) {
      await using file = await disk.open(record(key), "grow");
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
      await file.sync();
      await disk.syncDirectory(folder(key));
    },
  };
}
