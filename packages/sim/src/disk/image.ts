/**
 * One simulated disk: files, directories, links, and the rules of POSIX that the file store relies on.
 * Invariant: an image depends on nothing but the operations done to it, so it can be copied and gone on with twice.
 */
import { sha256 } from "@holdfast/base";
import { afterPowerLoss, type Content, type DataLoss, EMPTY } from "./content.ts";
import { Names, ROOT } from "./names.ts";

export interface Inode {
  readonly content: Content;
  readonly mtimeNs: bigint;
}

/** What becomes of un-synced names when the power goes; a list says which of them, oldest first, are kept. */
export type NameLoss = "lost" | "kept" | readonly boolean[];

export interface PowerLoss {
  readonly data: DataLoss;
  readonly names: NameLoss;
}

/** An error as Node throws it: those of the system have no stack either, and taking one costs more than the operation. */
export function systemError(code: string, path: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${path}`), { code });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/** Paths are absolute. Throws ENOENT, ENOTDIR, EEXIST, EISDIR as the system would. */
export class DiskImage {
  readonly names: Names;
  /** Whoever owns the clock keeps it right: new content gets this time. */
  nowNs: bigint;
  /** What is not on this disk and outlives every death: the world, another store. Never changed in place. */
  outside: unknown = null;
  readonly #inodes: Map<number, Inode>;
  #nextIno: number;

  constructor(inodes: ReadonlyMap<number, Inode> = new Map(), names = new Names(), nextIno = ROOT + 1, nowNs = 0n) {
    this.#inodes = new Map(inodes);
    this.names = names;
    this.#nextIno = nextIno;
    this.nowNs = nowNs;
  }

  clone(): DiskImage {
    const copy = new DiskImage(this.#inodes, this.names.clone(), this.#nextIno, this.nowNs);
    copy.outside = this.outside;
    return copy;
  }

  /** Nothing has changed since one was made from the other. False says nothing. */
  isUnchangedFrom(other: DiskImage): boolean {
    if (this.#inodes.size !== other.#inodes.size || this.outside !== other.outside) return false;
    for (const [ino, inode] of this.#inodes) if (other.#inodes.get(ino) !== inode) return false;
    return this.names.isUnchangedFrom(other.names);
  }

  /** The inode behind a path. */
  at(path: string): number {
    let ino: number = ROOT;
    for (const name of partsOf(path)) {
      if (!this.names.isDirectory(ino)) throw systemError("ENOTDIR", path);
      const next = this.names.find(ino, name);
      if (next === undefined) throw systemError("ENOENT", path);
      ino = next;
    }
    return ino;
  }

  find(path: string): number | undefined {
    const { directory, name } = this.#place(path);
    return this.names.find(directory, name);
  }

  inode(ino: number): Inode {
    const inode = this.#inodes.get(ino);
    if (inode === undefined) throw systemError("EISDIR", String(ino));
    return inode;
  }

  /** A new, empty file. */
  create(path: string): number {
    if (this.find(path) !== undefined) throw systemError("EEXIST", path);
    const ino = this.#nextIno++;
    this.#inodes.set(ino, { content: EMPTY, mtimeNs: this.nowNs });
    this.names.change([{ ...this.#place(path), target: ino }]);
    return ino;
  }

  makeDirectory(path: string): void {
    if (this.find(path) !== undefined) throw systemError("EEXIST", path);
    const ino = this.#nextIno++;
    this.names.makeDirectory(ino);
    this.names.change([{ ...this.#place(path), target: ino }]);
  }

  link(from: string, to: string): void {
    const target = this.at(from);
    if (this.find(to) !== undefined) throw systemError("EEXIST", to);
    this.names.change([{ ...this.#place(to), target }]);
  }

  rename(from: string, to: string): void {
    const target = this.at(from);
    this.names.change([
      { ...this.#place(from), target: null },
      { ...this.#place(to), target },
    ]);
  }

  remove(path: string): void {
    if (this.find(path) !== undefined) this.names.change([{ ...this.#place(path), target: null }]);
  }

  /** New bytes: the times move. */
  write(ino: number, how: (content: Content) => Content): void {
    this.#inodes.set(ino, { content: how(this.inode(ino).content), mtimeNs: this.nowNs });
  }

  /** The same bytes, more or less durable. */
  settle(ino: number, how: (content: Content) => Content): void {
    const inode = this.inode(ino);
    this.#inodes.set(ino, { ...inode, content: how(inode.content) });
  }

  losePower({ data, names }: PowerLoss): void {
    for (const ino of this.#inodes.keys()) this.settle(ino, (content) => afterPowerLoss(content, data));
    this.names.losePower((index) => (typeof names === "string" ? names === "kept" : (names[index] ?? false)));
  }

  #place(path: string): { readonly directory: number; readonly name: string } {
    const cut = path.lastIndexOf("/");
    const directory = this.at(path.slice(0, cut));
    if (!this.names.isDirectory(directory)) throw systemError("ENOTDIR", path);
    return { directory, name: path.slice(cut + 1) };
  }
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Equal for disks that no program, before or after a power loss, could tell apart, times and inode numbers aside. */
export function fingerprint(image: DiskImage): string {
  const seen = new Map<number, number>();
  const told: unknown[] = [];
  const label = (ino: number): number => {
    const there = seen.get(ino);
    if (there !== undefined) return there;
    const mine = seen.size;
    seen.set(ino, mine);
    told.push(image.names.isDirectory(ino) ? tellDirectory(image.names, ino, label) : tell(image.inode(ino).content));
    return mine;
  };
  label(ROOT);
  return sha256(JSON.stringify([told, image.names.pending, image.outside]));
}

function tellDirectory(names: Names, ino: number, label: (ino: number) => number): unknown {
  const labelled = ([name, one]: readonly [string, number]) => [name, label(one)];
  return [names.list(ino).map(labelled), names.durableList(ino).map(labelled)];
}

/** Contents are never changed, so each is told once. */
const TOLD = new WeakMap<Content, string>();

function tell(content: Content): string {
  const known = TOLD.get(content);
  if (known !== undefined) return known;
  const { cache, durable, dirty } = content;
  const both = cache === durable ? null : durable.toString("latin1");
  const told = sha256(JSON.stringify([cache.toString("latin1"), both, dirty]));
  TOLD.set(content, told);
  return told;
}
