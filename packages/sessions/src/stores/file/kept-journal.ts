/**
 * The newest journal of the index, open for the next row. It is used with `sessions.lock` held only.
 * Invariant: what is written is what the path leads to at that moment; after an error the descriptor is closed and never
 * used again.
 */
import type { Disk, DiskFile } from "./disk.ts";
import { during } from "./storage-error.ts";

interface OpenJournal {
  readonly path: string;
  readonly handle: DiskFile;
  readonly dev: bigint;
  readonly ino: bigint;
}

export class KeptJournal {
  readonly #disk: Disk;
  readonly #canKeep: boolean;
  #open: OpenJournal | undefined;

  /** `canKeep`: whether it may stay open between two locks. */
  constructor(disk: Disk, canKeep: boolean) {
    this.#disk = disk;
    this.#canKeep = canKeep;
  }

  /**
   * Runs `work` with the journal at `path` and its size now. One that is not there is not made: it was folded meanwhile, and
   * what a late writer put into a new file of that name would win over the snapshot.
   */
  async use(path: string, work: (handle: DiskFile, size: number) => Promise<void>): Promise<void> {
    try {
      const { handle, size } = await during(path, "open", () => this.#opened(path));
      await work(handle, size);
    } catch (error) {
      await this.close();
      throw error;
    }
    if (!this.#canKeep) await this.close();
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.handle.close();
  }

  async #opened(path: string): Promise<{ readonly handle: DiskFile; readonly size: number }> {
    const open = this.#open;
    const there = open?.path === path ? await this.#disk.find(path) : undefined;
    if (open !== undefined && there?.ino === open.ino && there.dev === open.dev) {
      return { handle: open.handle, size: Number(there.size) };
    }
    await this.close();
    const handle = await this.#disk.open(path, "append");
    try {
      const { dev, ino, size } = await handle.stat({ bigint: true });
      this.#open = { path, handle, dev, ino };
      return { handle, size: Number(size) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}
