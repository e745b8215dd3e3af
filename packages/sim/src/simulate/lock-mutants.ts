/**
 * Disks on which a lock that is a file does not do what it should, to show that the checker sees it: what they hide from the
 * engine is what a careless one would not look at.
 */
import type { DiskFile, OpenMode } from "@holdfast/sessions/internal";
import { type Mutation, passingOn } from "./mutants.ts";

/** Whoever takes a lock over writes no fence. */
export const withoutFence: Mutation = (disk) =>
  passingOn(disk, {
    open: async (path, mode) => {
      const file = await disk.open(path, mode);
      const write: DiskFile["write"] = async (bytes, offset, length) => {
        const text = Buffer.from(bytes.subarray(offset, offset + length)).toString("utf8");
        return text.includes('"holdfast:fence"') ? { bytesWritten: length } : file.write(bytes, offset, length);
      };
      return { ...file, write };
    },
  });

/** A holder looks at the lock it made, whatever is under its name by now. */
export const withoutLook: Mutation = (disk) => {
  const mine = new Map<string, DiskFile>();
  const open = async (path: string, mode: OpenMode): Promise<DiskFile> => {
    const own = mode === "read" ? mine.get(path) : undefined;
    if (own !== undefined) return { ...own, close: async () => {}, [Symbol.asyncDispose]: async () => {} };
    const file = await disk.open(path, mode);
    if (mode === "new" && path.endsWith(".held")) mine.set(path, file);
    return file;
  };
  const rename = async (from: string, to: string): Promise<void> => {
    mine.delete(from);
    await disk.rename(from, to);
  };
  return passingOn(disk, { open, rename });
};

/** A journal that is not there is made, also where it was folded meanwhile. */
export const withJournalsMadeAnew: Mutation = (disk) =>
  passingOn(disk, {
    open: (path, mode) => disk.open(path, mode === "append" && path.includes("sessions.journal-") ? "grow" : mode),
  });
