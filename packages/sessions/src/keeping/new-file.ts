/**
 * A file that is whole or not there: written aside, synced, and given its name by link(2).
 * Invariant: nothing that exists is ever overwritten, and what a killed writer left aside never has the final name.
 */
import { dirname } from "node:path";
import { errnoOf, type World } from "@holdfast/base";
import { type Disk, type DiskFile, type Place, realDisk } from "../stores/file/disk.ts";
import { during } from "../stores/file/storage-error.ts";
import { writeAll } from "../stores/file/whole-files.ts";

/** Small pieces are joined to writes of about this size. */
const WRITE_BYTES = 256 * 1024;

/** Where a file is being made. Dispose of it: what was not given a name is removed. */
export class NewFile implements AsyncDisposable {
  readonly #handle: DiskFile;
  readonly #world: World;
  /** Where it lies. */
  readonly disk: Disk;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Path it is written at until it is named. */
  readonly aside: string;
  /** Bytes given so far. */
  bytes = 0;

  private constructor(handle: DiskFile, aside: string, { world, disk }: Place) {
    this.#handle = handle;
    this.#world = world;
    this.disk = disk;
    this.aside = aside;
  }

  /** Begins a file (0600) in the directory of `near`. Throws `write_failed`. */
  static async beside(near: string, world: World, disk: Disk = realDisk): Promise<NewFile> {
    const aside = `${near}.${world.newId("holder")}.new`;
    const handle = await during(near, "open", () => disk.open(aside, "new"));
    return new NewFile(handle, aside, { world, disk });
  }

  async write(text: string | Buffer): Promise<void> {
    const piece = typeof text === "string" ? Buffer.from(text) : text;
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    this.bytes += piece.length;
    if (this.#waitingBytes >= WRITE_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    await during(this.aside, "write", () => writeAll(this.#handle, bytes));
  }

  /** All that was given is in the file at `aside`, durable. */
  async finish(): Promise<void> {
    await this.#flush();
    await during(this.aside, "sync", () => this.#handle.sync());
  }

  /** Gives the finished file its name, durably; false when the name is taken, which changes nothing. */
  async name(path: string): Promise<boolean> {
    this.#world.at("keeping:before-link");
    const isTaken = (error: unknown): boolean => {
      if (errnoOf(error) !== "EEXIST") throw error;
      return true;
    };
    if (await during(path, "link", () => this.disk.link(this.aside, path).then(() => false, isTaken))) return false;
    await during(path, "sync", () => this.disk.syncDirectory(dirname(path)));
    this.#world.at("keeping:after-link");
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    await during(this.aside, "write", () => this.disk.remove(this.aside));
  }
}
