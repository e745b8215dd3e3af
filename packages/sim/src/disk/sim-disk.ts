/**
 * The disk as a simulated process has it: each call becomes an operation that the machine counts, and may refuse to do.
 */
import { type FileLock, tryParse } from "@holdfast/base";
import type { Disk, DiskFile, DiskStat, OpenMode } from "@holdfast/sessions/internal";
import { afterFailedSync, cutTo, renewed, synced, written } from "./content.ts";
import { Calls } from "./calls.ts";
import type { DiskImage } from "./image.ts";
import type { Machine } from "./machine.ts";
import { packing } from "./packing.ts";
import type { SimProcess } from "./process.ts";

export class SimDisk implements Disk {
  readonly locks: Disk["locks"];
  readonly packing = packing;
  readonly #machine: Machine;
  readonly #process: SimProcess;
  readonly #calls: Calls;

  constructor(machine: Machine, process: SimProcess) {
    this.#machine = machine;
    this.#process = process;
    this.#calls = new Calls(machine, process);
    this.locks = {
      mode: "kernel",
      tryLock: (path) => this.#calls.now({ kind: "lock", path, perform: () => this.#tryLock(path) }),
      readNote: (path) => this.#calls.now({ kind: "readNote", path, perform: () => noteIn(this.#machine.image, path) }),
      keep: (path) => {
        const { tryLock, readNote } = this.locks;
        return { tryLock: () => tryLock(path), readNote: () => readNote(path), close: () => {} };
      },
    };
  }

  open(path: string, mode: OpenMode): Promise<DiskFile> {
    const creates = mode === "new" || (mode === "grow" && this.#machine.image.find(path) === undefined);
    return this.#calls.ask(creates ? "create" : "open", path, () => {
      const isMissing = this.#machine.image.find(path) === undefined;
      const ino =
        mode === "new" || (mode === "grow" && isMissing)
          ? this.#machine.image.create(path)
          : this.#machine.image.at(path);
      return this.#file(ino, path);
    });
  }

  stat(path: string): Promise<DiskStat> {
    return this.#calls.ask("stat", path, () => statOf(this.#machine.image, this.#machine.image.at(path)));
  }

  find(path: string): Promise<DiskStat | undefined> {
    return this.#calls.ask("stat", path, () => {
      const ino = this.#machine.image.find(path);
      return ino === undefined ? undefined : statOf(this.#machine.image, ino);
    });
  }

  list(path: string): Promise<readonly string[]> {
    return this.#calls.ask("list", path, () =>
      this.#machine.image.names.list(this.#machine.image.at(path)).map(([name]) => name),
    );
  }

  link(from: string, to: string): Promise<void> {
    return this.#calls.ask("link", to, () => this.#machine.image.link(from, to));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#calls.ask("rename", to, () => this.#machine.image.rename(from, to));
  }

  renew(path: string, from: number): Promise<void> {
    return this.#calls.ask("renew", path, () =>
      this.#machine.image.settle(this.#machine.image.at(path), (content) => renewed(content, from)),
    );
  }

  remove(path: string): Promise<void> {
    return this.#calls.ask("remove", path, () => this.#machine.image.remove(path));
  }

  makeDirectory(path: string): Promise<void> {
    return this.#calls.ask("makeDirectory", path, () => this.#machine.image.makeDirectory(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#calls.ask("syncDirectory", path, () => this.#machine.image.names.sync(this.#machine.image.at(path)));
  }

  realpath(path: string): Promise<string> {
    return this.#calls.ask("realpath", path, () => {
      // There are no symbolic links: what exists is real.
      this.#machine.image.at(path);
      return path;
    });
  }

  #file(ino: number, path: string): DiskFile {
    const sync = (): Promise<void> =>
      this.#calls.request({
        kind: "sync",
        path,
        perform: () => this.#machine.image.settle(ino, synced),
        drop: (pages) => this.#machine.image.settle(ino, (content) => afterFailedSync(content, pages)),
      }) as Promise<void>;
    const close = (): Promise<void> => this.#calls.ask("close", path, () => {});
    return {
      read: (into, offset, length, position) =>
        this.#calls.ask("read", path, () => {
          const bytes = this.#machine.image.inode(ino).content.cache.subarray(position, position + length);
          into.set(bytes, offset);
          return { bytesRead: bytes.length };
        }),
      write: (bytes, offset, length) =>
        this.#write(ino, path, Uint8Array.from(bytes.subarray(offset, offset + length))),
      stat: () => this.#calls.ask("stat", path, () => statOf(this.#machine.image, ino)),
      datasync: sync,
      sync,
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  #write(ino: number, path: string, bytes: Uint8Array): Promise<{ readonly bytesWritten: number }> {
    const perform = (count = bytes.length) => {
      const end = this.#machine.image.inode(ino).content.cache.length;
      this.#machine.image.write(ino, (content) => written(content, end, bytes.subarray(0, count)));
      return { bytesWritten: count };
    };
    return this.#calls.request({ kind: "write", path, bytes: bytes.length, perform }) as Promise<{
      bytesWritten: number;
    }>;
  }

  #tryLock(path: string): FileLock | undefined {
    const { locks } = this.#machine;
    const ino = this.#machine.image.find(path) ?? this.#machine.image.create(path);
    if (locks.has(ino)) return undefined;
    locks.set(ino, this.#process);
    const release = (): void => {
      if (!this.#process.isDead) locks.delete(ino);
    };
    const note = (value: unknown): void => {
      const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
      const perform = (count = bytes.length): void => writeNote(this.#machine.image, ino, bytes, count);
      this.#calls.now({ kind: "note", path, bytes: bytes.length, perform });
    };
    return { path, note, release, [Symbol.dispose]: release };
  }
}

function writeNote(image: DiskImage, ino: number, bytes: Uint8Array, count: number): void {
  image.write(ino, (content) => written(content, 0, bytes.subarray(0, count)));
  if (count === bytes.length) image.write(ino, (content) => cutTo(content, bytes.length));
}

function statOf(image: DiskImage, ino: number): DiskStat {
  const isDirectory = image.names.isDirectory(ino);
  const mtimeNs = isDirectory ? 0n : image.inode(ino).mtimeNs;
  const size = isDirectory ? 0n : BigInt(image.inode(ino).content.cache.length);
  return { dev: 1n, ino: BigInt(ino), size, mtimeNs, ctimeNs: mtimeNs, isFile: () => !isDirectory };
}

function noteIn(image: DiskImage, path: string): unknown {
  const ino = image.find(path);
  if (ino === undefined) return undefined;
  return tryParse(image.inode(ino).content.cache.toString("utf8").split("\n", 1)[0] ?? "");
}
