/**
 * Disks that do what careless keeping would do to whole files, to show that the checker sees it (see mutants.ts).
 */
import { crc32 } from "node:zlib";
import type { Disk, DiskFile } from "@holdfast/sessions/internal";
import { type Mutation, passingOn, withFiles } from "./mutants.ts";

/** A move gives the new name and leaves the old one. */
export const withBothNames: Mutation = (disk) =>
  passingOn(disk, { remove: async (path) => (path.endsWith(".jsonl") ? undefined : disk.remove(path)) });

/** A move is a copy that is made when the original has gone. */
export const withoutOriginal: Mutation = (disk) =>
  passingOn(disk, {
    link: async (from, to) => {
      if (!isMove(from, to)) return disk.link(from, to);
      const bytes = await bytesOf(disk, from);
      await disk.remove(from);
      await using copy = await disk.open(to, "new");
      await copy.write(bytes, 0, bytes.length);
      await copy.sync();
    },
  });

/** The original goes before its packed copy has a name. */
export const packedTooLate: Mutation = (disk) =>
  passingOn(disk, {
    rename: async (from, to) => {
      if (to.endsWith(".gz")) await disk.remove(to.slice(0, -".gz".length));
      await disk.rename(from, to);
    },
  });

/** A packed copy has its name before its content is on the disk. */
export const packedUnsynced: Mutation = (disk) =>
  withFiles(disk, (_file, path) => (path.endsWith(".gz.new") ? { sync: async () => {} } : {}));

/** A directory that would not be synced is taken for one that was. */
export const withRefusedNames: Mutation = (disk) =>
  passingOn(disk, { syncDirectory: (path) => disk.syncDirectory(path).catch(() => {}) });

/** Transcripts are made under their own names. */
export const madeInPlace: Mutation = (disk) => {
  const own = (path: string): string => path.replace(/\.jsonl\.new$/, ".jsonl");
  return passingOn(disk, {
    open: (path, mode) => disk.open(own(path), mode),
    link: async (from, to) => (own(from) === to ? undefined : disk.link(from, to)),
    remove: async (path) => (own(path) === path ? disk.remove(path) : undefined),
  });
};

/** What was made aside stays when it is not needed any more. */
export const withScrap: Mutation = (disk) =>
  passingOn(disk, { remove: async (path) => (path.endsWith(".new") ? undefined : disk.remove(path)) });

/** An index beside a transcript says something else, under sums that are right. */
export const withWrongIndex: Mutation = (disk) =>
  withFiles(disk, (file, path) => {
    if (!path.endsWith(".idx")) return {};
    return {
      read: async (into, offset, length, position) => {
        const bytes = wrong(await allOf(file)).subarray(position, position + length);
        into.set(bytes, offset);
        return { bytesRead: bytes.length };
      },
    };
  });

const SLOT_BYTES = 40;
/** Where a slot has its kind, and a stamp its sum. */
const KIND_AT = 22;
const STAMP = 0xff;
const SUM_AT = 36;

/** The last entry is missing: what is before it stands in its place. */
function wrong(index: Buffer): Buffer {
  const changed = Buffer.from(index);
  let sum = 0;
  for (let at = 0; at + SLOT_BYTES <= changed.length; at += SLOT_BYTES) {
    const slot = changed.subarray(at, at + SLOT_BYTES);
    if (at === changed.length - 2 * SLOT_BYTES) changed.copy(slot, 0, at - SLOT_BYTES, at);
    if (slot[KIND_AT] === STAMP) slot.writeUInt32LE(sum, SUM_AT);
    sum = crc32(slot, sum);
  }
  return changed;
}

/** A repair takes the place of what it repaired. */
export const repairedInPlace: Mutation = (disk) =>
  passingOn(disk, {
    link: async (from, to) => {
      await disk.link(from, to);
      if (to.endsWith(".repaired.jsonl")) await disk.rename(to, to.replace(".repaired", ""));
    },
  });

/** A repaired file has its name before the bytes that it does not hold. */
export const repairedTooEarly: Mutation = (disk) => {
  const later: (() => Promise<void>)[] = [];
  return passingOn(disk, {
    link: async (from, to) => {
      if (to.endsWith(".damaged")) return void later.push(() => disk.link(from, to));
      await disk.link(from, to);
      for (const link of later.splice(0)) await link();
    },
  });
};

/** A row that lacks its line feed becomes one when somebody writes on. */
export const withTornRows: Mutation = (disk) =>
  withFiles(disk, (file) => ({
    write: (bytes, offset, length) => {
      const text = Buffer.from(bytes.subarray(offset, offset + length)).toString("latin1");
      const sealed = Buffer.from(text.replace(/^ \(torn\)\n/, "\n"), "latin1");
      return file.write(sealed, 0, sealed.length).then(() => ({ bytesWritten: length }));
    },
  }));

const isMove = (from: string, to: string): boolean => from.includes("/archive/") !== to.includes("/archive/");

async function bytesOf(disk: Disk, path: string): Promise<Buffer> {
  await using file = await disk.open(path, "read");
  return await allOf(file);
}

async function allOf(file: DiskFile): Promise<Buffer> {
  const bytes = Buffer.alloc(Number((await file.stat({ bigint: true })).size));
  await file.read(bytes, 0, bytes.length, 0);
  return bytes;
}
