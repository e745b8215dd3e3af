/**
 * The names of a simulated disk: directories as programs see them, and as a power loss would leave them.
 *
 * Each link, rename or unlink is one change that is lost or kept as a whole, unless a directory it touches was synced:
 * then the part in that directory is durable and only the rest can still be lost.
 * Invariant: a name becomes durable only through `sync` of its directory, or by the choice of whoever pulls the plug.
 */

/** `target` null: the name goes. */
export interface NameChange {
  readonly directory: number;
  readonly name: string;
  readonly target: number | null;
}

type Listed = readonly (readonly [string, number])[];

/** Directories are never changed, only replaced, so each is sorted once. */
const SORTED = new WeakMap<ReadonlyMap<string, number>, Listed>();

function sorted(names: ReadonlyMap<string, number> | undefined): Listed {
  if (names === undefined) return [];
  const known = SORTED.get(names);
  if (known !== undefined) return known;
  const listed = [...names].toSorted(([a], [b]) => (a < b ? -1 : 1));
  SORTED.set(names, listed);
  return listed;
}

type Directories = ReadonlyMap<number, ReadonlyMap<string, number>>;

export const ROOT = 1;

export class Names {
  #now: Directories;
  #durable: Directories;
  #pending: readonly (readonly NameChange[])[];

  constructor(
    now: Directories = new Map([[ROOT, new Map()]]),
    durable: Directories = now,
    pending: readonly (readonly NameChange[])[] = [],
  ) {
    this.#now = now;
    this.#durable = durable;
    this.#pending = pending;
  }

  /** Costs nothing: what is inside is never changed, only replaced. */
  clone(): Names {
    return new Names(this.#now, this.#durable, this.#pending);
  }

  /** Nothing has changed since one was made from the other. False says nothing. */
  isUnchangedFrom(other: Names): boolean {
    return this.#now === other.#now && this.#durable === other.#durable && this.#pending === other.#pending;
  }

  get pending(): number {
    return this.#pending.length;
  }

  isDirectory(ino: number): boolean {
    return this.#now.has(ino);
  }

  /** Names in a directory, sorted. */
  list(directory: number): Listed {
    return sorted(this.#now.get(directory));
  }

  durableList(directory: number): Listed {
    return sorted(this.#durable.get(directory));
  }

  find(directory: number, name: string): number | undefined {
    return this.#now.get(directory)?.get(name);
  }

  makeDirectory(ino: number): void {
    this.#now = new Map(this.#now).set(ino, new Map());
    this.#durable = new Map(this.#durable).set(ino, new Map());
  }

  /** One act: all of it is visible at once. */
  change(changes: readonly NameChange[]): void {
    this.#now = changed(this.#now, changes);
    this.#pending = [...this.#pending, changes];
  }

  sync(directory: number): void {
    if (this.#pending.length === 0) return;
    const inside = ({ directory: one }: NameChange): boolean => one === directory;
    this.#durable = changed(this.#durable, this.#pending.flat().filter(inside));
    const rest = this.#pending.map((changes) => changes.filter((one) => !inside(one)));
    this.#pending = rest.filter((changes) => changes.length > 0);
  }

  /** `keep` decides for each un-synced change, oldest first. */
  losePower(keep: (index: number) => boolean): void {
    this.#durable = changed(this.#durable, this.#pending.filter((_, index) => keep(index)).flat());
    this.#now = this.#durable;
    this.#pending = [];
  }
}

function changed(directories: Directories, changes: readonly NameChange[]): Directories {
  if (changes.length === 0) return directories;
  const next = new Map(directories);
  for (const { directory, name, target } of changes) {
    const names = new Map(next.get(directory));
    if (target === null) names.delete(name);
    else names.set(name, target);
    next.set(directory, names);
  }
  return next;
}
