/**
 * Disks that do what a careless engine would do, to show that the checker sees it. Each stands between the engine and the
 * simulated disk, so the rest of the engine is the real one.
 */
import type { Disk, DiskFile, OpenMode } from "@holdfast/sessions/internal";

export type Mutation = (disk: Disk) => Disk;

export function withFiles(disk: Disk, change: (file: DiskFile, path: string) => Partial<DiskFile>): Disk {
  const open = async (path: string, mode: OpenMode): Promise<DiskFile> => {
    const file = await disk.open(path, mode);
    return { ...file, ...change(file, path) };
  };
  return passingOn(disk, { open });
}

/** Calls go to the disk itself, whose methods need it as `this`. */
export function passingOn(disk: Disk, change: Partial<Disk>): Disk {
  return {
    open: (path, mode) => disk.open(path, mode),
    stat: (path) => disk.stat(path),
    find: (path) => disk.find(path),
    list: (path) => disk.list(path),
    link: (from, to) => disk.link(from, to),
    rename: (from, to) => disk.rename(from, to),
    renew: (path, from) => disk.renew(path, from),
    remove: (path) => disk.remove(path),
    makeDirectory: (path) => disk.makeDirectory(path),
    syncDirectory: (path) => disk.syncDirectory(path),
    realpath: (path) => disk.realpath(path),
    packing: disk.packing,
    locks: disk.locks,
    ...change,
  };
}

/** Nothing is ever synced. */
export const withoutSync: Mutation = (disk) =>
  withFiles(disk, () => ({ datasync: async () => {}, sync: async () => {} }));

/** Syncs, but does not wait for it. */
export const beforeSync: Mutation = (disk) =>
  withFiles(disk, (file) => ({
    datasync: async () => {
      file.datasync().catch(() => {});
    },
  }));

/** Names are left to themselves. */
export const withoutDirectorySync: Mutation = (disk) => passingOn(disk, { syncDirectory: async () => {} });

/** Renames and links before the content is on the disk. */
export const withoutFileSync: Mutation = (disk) => withFiles(disk, () => ({ sync: async () => {} }));

/** Everybody gets the lock. */
export const withoutLocks: Mutation = (disk) => {
  const { mode, readNote } = disk.locks;
  const notes = (path: string) => ({ path, note: () => {}, release: () => {}, [Symbol.dispose]: () => {} });
  return passingOn(disk, { locks: { mode, readNote, tryLock: notes } });
};

/** A failed sync is taken for a sync that has to be tried again. */
export const withSyncTriedAgain: Mutation = (disk) =>
  withFiles(disk, (file) => ({ datasync: () => file.datasync().catch(() => file.datasync()) }));
