/**
 * The newest journal of the index, open for the next row. It is used with `sessions.lock` held only.
 * Invariants: what is written is what the path leads to at that moment; after an error the descriptor is closed and never
 * used again. The name is durable before the first row is, whoever made the file: its maker may not have come that far.
 */
import { dirname } from "node:path";
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
  readonly #sync: boolean;
  #open: OpenJournal | undefined;
  /** Whose name is known to be durable. */
  #named: Pick<OpenJournal, "path" | "dev" | "ino"> | undefined;

  /** `canKeep`: whether it may stay open between two locks. `sync`: whether anything is to be durable. */
  constructor(disk: Disk, { canKeep, sync }: { readonly canKeep: boolean; readonly sync: boolean }) {
    this.#disk = disk;
    this.#canKeep = canKeep;
    this.#sync = sync;
  }

  /**
   * Runs `work` with the journal at `path` and its size now. One that is not there is not made: it was folded meanwhile, and
   * what a late writer put into a new file of that name would win over the snapshot.
   */
  async use(path: string, work: (handle: DiskFile, size: number) => Promise<void>): Promise<void> {
    try {
      const { handle, size } = await during(path, "open", () => this.#opened(path));
      if (this.#sync) await during(path, "sync", () => this.#makeNameDurable());
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

  async #makeNameDurable(): Promise<void> {
    const open = this.#open;
    const named = this.#named;
    if (open === undefined || (named?.path === open.path && named.ino === open.ino && named.dev === open.dev)) return;
    await this.#disk.syncDirectory(dirname(open.path));
    this.#named = { path: open.path, dev: open.dev, ino: open.ino };
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
