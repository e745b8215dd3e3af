/**
 * What one session object knows of its log: the path to the leaf, the position read up to, entries met since.
 * Invariant: `loaded` describes exactly the bytes before `position`; growth that cannot be judged from what is loaded
 * makes it read again, never guess.
 */
import type { Entry, NewEntry } from "./entry.ts";
import { fieldsOf, isCustom, parseLine } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { KnownPath } from "./known-path.ts";
import { project, type Settings } from "./projection.ts";
import { backward, forward } from "./reading/lines.ts";
import type { ByteSource } from "./reading/source.ts";
import { type Loaded, lacksSettings, readTail } from "./reading/tail.ts";
import { parseRaw } from "./reading/whole.ts";
import { entriesForward } from "./scan.ts";
import { settingsAt } from "./sidecar/look.ts";
import { endBefore, Places } from "./sidecar/places.ts";
import type { Ground as WholeGround } from "./draft.ts";
import type { LogRef, Position, Reading, LogStore } from "./store.ts";
import type { Context, ContextOptions } from "./types.ts";

/** What `Drafting` needs from the log, looked up before it starts. */
export type DraftGround = Omit<WholeGround, "session" | "nowIso" | "newId">;

/** The last entry, and where unread bytes begin: a torn line at the end may still be completed by its writer. */
async function lastEntry(source: ByteSource): Promise<{ readonly entry: Entry | null; readonly next: number }> {
  let next: number | undefined;
  for await (const line of backward(source)) {
    const parsed = parseRaw(line);
    if (parsed.kind === "blank") continue;
    const isWhole = line.ended || parsed.kind === "entry";
    next ??= isWhole ? source.size : line.offset;
    if (parsed.kind === "entry") return { entry: parsed.entry, next };
  }
  return { entry: null, next: next ?? 0 };
}

export class Ground {
  readonly #store: LogStore;
  readonly #log: LogRef;
  /** Entries written or met by this object, on all branches. */
  readonly #met = new Map<string, Entry>();
  /** Where entries stand that are not loaded. */
  readonly places: Places;
  #path: KnownPath;
  position: Position;
  /** Offset of the first byte that is not yet part of `loaded`. */
  #next: number;
  #cut: Entry | null;

  private constructor(
    store: LogStore,
    log: LogRef,
    read: {
      readonly loaded: Loaded;
      readonly position: Position;
      readonly next: number;
      readonly cut: Entry | null;
      readonly places: Places;
    },
  ) {
    this.#store = store;
    this.#log = log;
    this.places = read.places;
    this.#path = new KnownPath(read.loaded);
    this.position = read.position;
    this.#next = read.next;
    this.#cut = read.cut;
  }

  /** Reads from the end as far as the context needs; `reading` is the log now, if it was looked at. Throws `gone`. */
  static async read(store: LogStore, log: LogRef, reading?: Reading): Promise<Ground> {
    const open = async (since?: Position): Promise<Reading> => {
      const reading = await store.read(log, since);
      if (reading === undefined) throw new SessionError("gone", { path: log.file });
      return reading;
    };
    const places = new Places(open);
    await using now = reading ?? (await open());
    const loaded = await readTail(now.source, { jump: (id, before) => places.endOf(id, before) });
    const last = await lastEntry(now.source);
    const cut = withoutWayBack(last.entry, loaded);
    return new Ground(store, log, { loaded, position: now.position, next: last.next, cut, places });
  }

  get loaded(): Loaded {
    return this.#path.loaded;
  }

  get leaf(): string | null {
    return this.#path.leaf;
  }

  async context(options: ContextOptions): Promise<Context> {
    const { leaf, settings = false, ...limits } = options;
    const loaded = leaf === undefined || leaf === this.leaf ? this.loaded : await this.#loadedAt(leaf);
    const earlier =
      settings && lacksSettings(loaded) ? await inForceAt(this.places, loaded.path.at(-1)) : loaded.earlier;
    return project(loaded.path, { ...limits, whole: loaded.whole, earlier });
  }

  /** One entry wherever it is. Looks into the file only for what was not met. */
  async find(id: string): Promise<Entry | undefined> {
    const near = this.#met.get(id) ?? this.#path.byId.get(id);
    if (near !== undefined) return near;
    return this.places.run(async (tree) => {
      const node = await tree.find(id);
      return node === -1 ? undefined : tree.read(node);
    });
  }

  /** Looks up whatever the new entries name. */
  async forDraft(entries: readonly NewEntry[]): Promise<DraftGround> {
    const known = new Map<string, Entry>();
    const paths = new Map<string, readonly Entry[]>();
    for (const id of new Set(entries.flatMap(namedBy))) {
      const entry = await this.find(id);
      if (entry === undefined) continue;
      known.set(id, entry);
      if (!this.#path.byId.has(id)) paths.set(id, (await this.#loadedAt(id)).path);
    }
    const { leaf, byId, open, path } = this.#path;
    const asks = entries.some(({ type }) => type === "compaction") && lacksSettings(this.loaded);
    const inForce = asks ? await inForceAt(this.places, path.at(-1)) : null;
    return { leaf, path, onPath: byId, open, known, paths, cut: this.#cut, inForce };
  }

  /** After our own commit. */
  async advance(entries: readonly Entry[], position: Position, end: number): Promise<void> {
    this.position = position;
    this.places.reached(position);
    this.#next = end;
    this.#cut = null;
    await this.#extend(entries);
  }

  /** Takes in what others added up to `reading`. */
  async catchUp(reading: Reading): Promise<readonly Entry[]> {
    let added: Entry[] = [];
    let judged = true;
    let named = true;
    let next = this.#next;
    for await (const line of forward(reading.source, this.#next)) {
      const parsed = line.bytes === null ? undefined : parseLine(line.bytes);
      if (parsed?.kind === "entry") added.push(parsed.entry);
      else if (parsed?.kind !== "blank") judged = false;
      if (parsed?.kind === "anonymous") named = false;
      next = line.ended || parsed?.kind === "entry" ? line.offset + line.length + (line.ended ? 1 : 0) : line.offset;
    }
    if (!named) added = await Array.fromAsync(entriesForward(reading.source, this.#next));
    this.position = reading.position;
    this.#next = next;
    if (judged) await this.#extend(added);
    else await this.#reload(reading.source, added);
    const last = added.at(-1);
    if (last !== undefined) this.#cut = withoutWayBack(last, this.loaded);
    return added.filter((entry) => !isStale(entry, this.loaded));
  }

  async #extend(entries: readonly Entry[]): Promise<void> {
    const after = this.#path.after(entries);
    if (after === undefined) {
      const reading = await this.#store.read(this.#log);
      if (reading === undefined) throw new SessionError("gone", { path: this.#log.file });
      await using now = reading;
      await this.#reload(now.source, entries);
      return;
    }
    this.#path = after;
    for (const entry of entries) this.#met.set(entry.id, entry);
  }

  async #reload(source: ByteSource, met: readonly Entry[]): Promise<void> {
    this.#path = new KnownPath(await readTail(source, { jump: (id, before) => this.places.endOf(id, before) }));
    for (const entry of met) if (!isStale(entry, this.loaded)) this.#met.set(entry.id, entry);
  }

  #loadedAt(leaf: string): Promise<Loaded> {
    return this.places.run(async (tree, source) => {
      const node = await tree.find(leaf);
      const from = node === -1 || tree.hasOddities ? undefined : Math.min(tree.endOf(node), source.size);
      return readTail(source, { leaf, from, jump: (id, before) => endBefore(tree, id, before) });
    });
  }
}

/** Model and thinking level at an entry, however far back they were set. */
function inForceAt(places: Places, entry: Entry | undefined): Promise<Settings> {
  return places.run(async (tree) => settingsAt(tree, entry === undefined ? -1 : await tree.find(entry.id)));
}

/** Written by somebody who had lost the right to: kept, and never taken in. */
function isStale({ id, g }: Entry, { report }: Loaded): boolean {
  return report.stale.some((one) => one.id === id && one.g === g);
}

/** The last line, if other programs take it for the leaf and it is not: a late entry, a fence, one that came too late. */
function withoutWayBack(last: Entry | null, loaded: Loaded): Entry | null {
  if (last === null) return null;
  const isElsewhere = last.returnTo !== undefined || isCustom(last, "holdfast:fence") || isStale(last, loaded);
  return isElsewhere ? last : null;
}

/** Every id an entry names: its own, its parent's, and those that say where it belongs. */
function namedBy(entry: NewEntry): readonly string[] {
  const { id, parentId, answers, seen, call } = fieldsOf(entry as Entry);
  const called = typeof call === "object" && call !== null && "entryId" in call ? call.entryId : undefined;
  const all: unknown[] = [id, parentId, seen, called, ...(Array.isArray(answers) ? answers : [])];
  return all.filter((one) => typeof one === "string");
}
