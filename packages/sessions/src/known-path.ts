/**
 * The path to the leaf as one session object knows it, followed entry by entry.
 * Invariant: extending a path by a plain chain costs the same on a long path as on a short one, and gives what reading
 * the log again would give.
 */
import type { OpenCall } from "./calls.ts";
import { type Entry, isCustom } from "./entry.ts";
import { afterEntry, openCallsOf } from "./open-calls.ts";
import { extendPath, type Loaded } from "./reading/tail.ts";

export class KnownPath {
  /** Everything but the path, which grows here. */
  readonly #rest: Loaded;
  readonly #path: Entry[];
  /** As asked for last; nobody who has it sees it grow. */
  #loaded: Loaded | undefined;
  /** Both made when a writer asks: most who open a log only read it. */
  #byId: Map<string, Entry> | undefined;
  #open: readonly OpenCall[] | undefined;
  #g: number;

  constructor(loaded: Loaded) {
    this.#rest = loaded;
    this.#path = [...loaded.path];
    this.#loaded = loaded;
    this.#g = loaded.g;
  }

  get loaded(): Loaded {
    this.#loaded ??= { ...this.#rest, g: this.#g, path: [...this.#path] };
    return this.#loaded;
  }
  /** The path itself, which grows with the next entries: for use at once. */
  get path(): readonly Entry[] {
    return this.#path;
  }
  get leaf(): string | null {
    return this.#path.at(-1)?.id ?? null;
  }
  /** The entries of the path by their ids. */
  get byId(): ReadonlyMap<string, Entry> {
    this.#byId ??= new Map(this.#path.map((entry) => [entry.id, entry]));
    return this.#byId;
  }
  /** Calls without a result at the leaf. */
  get open(): readonly OpenCall[] {
    this.#open ??= openCallsOf(this.#path);
    return this.#open;
  }

  /** The path after these entries were added to the log; undefined when only the log itself can tell. */
  after(entries: readonly Entry[]): KnownPath | undefined {
    if (this.#isChain(entries)) return this.#follow(entries);
    const extended = extendPath(this.loaded, entries);
    return extended === null ? undefined : new KnownPath(extended);
  }

  /** Whether these are one plain chain from the leaf: the usual case, and the only one not looked at as a whole. */
  #isChain(entries: readonly Entry[]): boolean {
    let { leaf } = this;
    let g = this.#g;
    for (const entry of entries) {
      if (!isPlain(entry) || this.byId.has(entry.id) || entry.parentId !== leaf || (entry.g ?? g) < g) return false;
      leaf = entry.id;
      g = entry.g ?? g;
    }
    return true;
  }

  #follow(entries: readonly Entry[]): this {
    this.#loaded = undefined;
    this.#open = entries.reduce((open, entry) => afterEntry(open, entry, entry.g !== undefined), this.open);
    for (const entry of entries) {
      this.#path.push(entry);
      this.#byId?.set(entry.id, entry);
      this.#g = entry.g ?? this.#g;
    }
    return this;
  }
}

/** Whether an entry is the next on the path and nothing else. */
function isPlain(entry: Entry): boolean {
  return entry.returnTo === undefined && entry.type !== "compaction" && !isCustom(entry, "holdfast:fence");
}
