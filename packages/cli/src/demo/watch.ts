/**
 * Counts from outside how often a file was written: the kernel's notices about its folder, not what the program says of itself.
 * A write that puts a new file in place is one notice of its name; a write into the old file changes its inode's times. Both count.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { join } from "node:path";
import type { World } from "@holdfast/base";

const LOOK_EVERY_MS = 5;

export class WriteWatch {
  readonly #path: string;
  readonly #watcher: FSWatcher;
  readonly #looking: Disposable;
  /** Each state of the file that was seen, by inode and time of its last write. */
  readonly #versions = new Set<string>();
  #placed = 0;

  constructor(directory: string, name: string, world: World) {
    this.#path = join(directory, name);
    this.#watcher = watch(directory, (event, changed) => {
      if (changed !== name) return;
      if (event === "rename" && this.#look()) this.#placed += 1;
      else this.#look();
    });
    this.#looking = world.every(LOOK_EVERY_MS, () => void this.#look());
  }

  /** How often it was written so far: the larger of both counts, so that neither can hide a write. */
  get count(): number {
    this.#look();
    return Math.max(this.#placed, this.#versions.size);
  }

  close(): void {
    this.#watcher.close();
    this.#looking[Symbol.dispose]();
  }

  /** Whether the file is there. */
  #look(): boolean {
    const seen = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    if (seen !== undefined) this.#versions.add(`${seen.ino}:${seen.mtimeNs}:${seen.size}`);
    return seen !== undefined;
  }
}
