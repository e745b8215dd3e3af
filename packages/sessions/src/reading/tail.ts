/**
 * Opens a transcript from its end: reads backwards until the context is complete, and no further.
 *
 * From the leaf each parent is looked for; lines in between belong to other branches and are passed over without being
 * parsed. What cannot be judged from the tail alone (a parent that is nowhere before its child, repeated ids, entries
 * without ids, stale lines, old versions) is read whole instead: slower, never different. Only damage that lies before
 * the context, and that no append can leave (a copy of a line above that line's own parent), is not seen from here.
 */
import { type Entry, type Header, isCustom, parseLine } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { contextStart, type Settings, settingsIn } from "../projection.ts";
import type { OpenReport } from "../types.ts";
import { CURRENT_VERSION, type ReadHeader, readHeader } from "./header.ts";
import { backwardBatches, type RawLine } from "./lines.ts";
import type { ByteSource } from "./source.ts";
import { NOBODY, Walk, type WalkOptions } from "./walk.ts";
import { type EntryRef, readWhole, type Whole } from "./whole.ts";

/** What is known of an open transcript: enough for its context. */
export interface Loaded {
  /** Oldest first, from where the context begins (or before) to the leaf. Its last entry is the leaf. */
  readonly path: readonly Entry[];
  /** Whether the path begins at its root. */
  readonly whole: boolean;
  /** In force before the path's first entry; null when it was not asked for. */
  readonly earlier: Settings | null;
  /** The greatest writer's number in what was read: a smaller one that comes later may be stale. */
  readonly g: number;
  readonly header: Header | null;
  readonly version: number;
  readonly report: OpenReport;
}

/** Whether something is in force that was set before what is loaded, and that nothing in it says. */
export function lacksSettings({ whole, earlier, path }: Loaded): boolean {
  const { model, thinkingLevel } = settingsIn(path);
  return !whole && earlier === null && (model === null || thinkingLevel === null);
}

/** Where the line of an entry ends that stands before the byte `before`, or undefined. Only a hint. */
export type Jump = (id: string, before: number) => Promise<number | undefined>;

export interface TailOptions extends WalkOptions {
  /** Begin at the byte after the leaf's line; left out: at the end of the file. */
  readonly from?: number | undefined;
  /** Asked when the next entry of the path lies far behind other branches. */
  readonly jump?: Jump | undefined;
}

/** Batches without an entry of the path before somebody is asked: reading one costs less than asking. */
const PASSED_MAX = 4;

/**
 * Loads what the context of the leaf (or of `options.leaf`) needs. Throws `entry_missing` when that leaf is not there.
 * With `settings`, reads on until model and thinking level are known, which may be at the beginning of the file.
 */
export async function readTail(source: ByteSource, options: TailOptions = {}): Promise<Loaded> {
  const header = await readHeader(source);
  const walked = header.version < CURRENT_VERSION ? null : await walkBack(source, options);
  if (walked === null) return loadFromWhole(await readWhole(source), options);
  return loadFromWalk(walked.walk, header, walked.atStart);
}

interface Walked {
  readonly walk: Walk;
  /** Whether every line of the file was looked at. */
  readonly atStart: boolean;
}

/** Null: the file has to be read whole. */
async function walkBack(source: ByteSource, options: TailOptions): Promise<Walked | null> {
  const walk = new Walk(options);
  const way = { from: options.from ?? source.size, jumped: false };
  for await (const batch of batchesBack(source, walk, way, options.jump)) {
    for (const line of batch) {
      const step = walk.step(line);
      if (step === "whole") return null;
      if (step === "done") return { walk, atStart: line.offset === 0 && !way.jumped };
    }
  }
  return walk.end() === "whole" ? null : { walk, atStart: !way.jumped };
}

/** Batches of lines from the end, over whose other branches it jumps where somebody knows how far they reach. */
async function* batchesBack(
  source: ByteSource,
  walk: Walk,
  way: { from: number; jumped: boolean },
  jump: Jump | undefined,
): AsyncGenerator<readonly RawLine[]> {
  for (let ask = jump; ; ) {
    way.from = yield* batchesUntilFar(
      source,
      walk,
      way.from,
      ask === undefined ? Number.POSITIVE_INFINITY : PASSED_MAX,
    );
    const { wanted } = walk;
    if (way.from === 0 || wanted === undefined || wanted === NOBODY) return;
    const target = await ask?.(wanted, way.from);
    if (target !== undefined && (await endsWith(source, target, wanted))) {
      way.from = target;
      way.jumped = true;
    } else ask = undefined;
  }
}

/** Gives up after so many batches that were only passed over. Returns where the lines before begin; 0: there are none. */
async function* batchesUntilFar(
  source: ByteSource,
  walk: Walk,
  from: number,
  passedMax: number,
): AsyncGenerator<readonly RawLine[], number> {
  let passed = 0;
  for await (const batch of backwardBatches(source, from)) {
    const sought = walk.wanted;
    yield batch;
    passed = sought !== NOBODY && walk.wanted === sought ? passed + 1 : 0;
    if (passed >= passedMax) return batch.at(-1)?.offset ?? 0;
  }
  return 0;
}

/** Whether the line that ends before `end` is this entry. */
async function endsWith(source: ByteSource, end: number, id: string): Promise<boolean> {
  for await (const batch of backwardBatches(source, Math.min(end, source.size))) {
    const parsed = parseLine(batch[0]?.bytes ?? "");
    return parsed.kind === "entry" && parsed.entry.id === id;
  }
  return false;
}

function loadFromWalk(walk: Walk, header: ReadHeader, atStart: boolean): Loaded {
  return {
    path: walk.found.toReversed(),
    whole: walk.isWhole || walk.found.length === 0,
    earlier: walk.settings,
    g: walk.g.greatest,
    header: header.header,
    version: header.version,
    report: {
      ...walk.tally,
      partial: !atStart || walk.seen.hasPassed,
      header: header.state,
      gaps: [],
      duplicates: [],
      stale: [],
      noted: walk.seen.notes.list(),
    },
  };
}

async function loadFromWhole(whole: Whole, options: WalkOptions): Promise<Loaded> {
  const leaf = options.leaf === undefined ? whole.leaf : whole.tree.indexOf(options.leaf);
  if (leaf === -1 && options.leaf !== undefined) {
    throw new SessionError("entry_missing", { entry: options.leaf, session: whole.header.header?.id ?? "this file" });
  }
  const refs = whole.tree.pathTo(leaf);
  const { from } = contextStart(refs);
  const path: Entry[] = [];
  for (const ref of refs.slice(from)) path.push(await whole.read(ref));
  return {
    path,
    whole: from === 0,
    earlier: options.settings === true ? await settingsBefore(whole, refs.slice(0, from), settingsIn(path)) : null,
    g: whole.g,
    header: whole.header.header,
    version: whole.header.version,
    report: whole.report,
  };
}

/** What was in force before the path, as far as the path itself does not say. */
async function settingsBefore(whole: Whole, refs: readonly EntryRef[], here: Settings): Promise<Settings> {
  let { model, thinkingLevel } = here;
  for (const ref of refs.toReversed()) {
    const mayTell =
      ref.type === "compaction" ||
      (ref.type === "thinking_level_change" && thinkingLevel === null) ||
      ((ref.type === "message" || ref.type === "model_change") && model === null);
    if (!mayTell || (model !== null && thinkingLevel !== null)) continue;
    const found = settingsIn([await whole.read(ref)]);
    model ??= found.model;
    thinkingLevel ??= found.thinkingLevel;
  }
  return { model, thinkingLevel };
}

/**
 * Takes in entries that were added to the file after `loaded` was read, in file order. Null when they cannot be judged
 * from what is loaded (they continue a branch that is not, repeat ids, are stale): read again.
 */
export function extendPath(loaded: Loaded, added: readonly Entry[]): Loaded | null {
  if (added.length === 0) return loaded;
  const last = added.findLast((entry) => !isCustom(entry, "holdfast:fence"));
  const known = indexById(loaded.path);
  const fresh = indexById(added);
  const isNew = fresh.size === added.length && !added.some((entry) => known.has(entry.id));
  const g = greatestOf(loaded.g, added);
  if (!isNew || g === null) return null;
  if (last === undefined) return { ...loaded, g };
  const { above, at } = climb(added, fresh, last.returnTo ?? last.id);
  // From another root nothing that was in force before holds.
  if (at === null) return { ...loaded, g, path: above, whole: true, earlier: null };
  const index = known.get(at);
  if (index === undefined) return null;
  // What is known to be in force may have been set on the part that is left.
  if (loaded.earlier !== null && index < loaded.path.length - 1) return null;
  const path = [...loaded.path.slice(0, index + 1), ...above];
  const start = contextStart(path);
  return loaded.whole || (start.compaction !== -1 && start.found) ? { ...loaded, g, path } : null;
}

function indexById(entries: readonly Entry[]): ReadonlyMap<string, number> {
  return new Map(entries.map((entry, index) => [entry.id, index]));
}

/** Writers' numbers only grow; null: a smaller one after a larger may be stale, which the whole file tells. */
function greatestOf(before: number, added: readonly Entry[]): number | null {
  let greatest = before;
  for (const { g } of added) {
    if (g !== undefined && g < greatest) return null;
    greatest = g ?? greatest;
  }
  return greatest;
}

/** From an entry upwards through what was added: those passed (oldest first) and the first id that is not among them. */
function climb(
  added: readonly Entry[],
  fresh: ReadonlyMap<string, number>,
  from: string,
): { readonly above: readonly Entry[]; readonly at: string | null } {
  const above: Entry[] = [];
  let at: string | null = from;
  let below = added.length;
  for (;;) {
    const index: number = at === null ? -1 : (fresh.get(at) ?? -1);
    const entry: Entry | undefined = added[index];
    // A parent stands before its child; a link that says otherwise is a gap, and `at` is then an id that nobody knows.
    if (entry === undefined || index >= below) return { above: above.reverse(), at };
    above.push(entry);
    below = index;
    at = entry.parentId;
  }
}
