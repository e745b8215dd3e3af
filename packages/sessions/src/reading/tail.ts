/**
 * Opens a transcript from its end: reads backwards until the context is complete, and no further.
 *
 * From the leaf each parent is looked for; lines in between belong to other branches and are passed over without being
 * parsed. What cannot be judged from the tail alone (a parent that is nowhere before its child, repeated ids, entries
 * without ids, stale lines, old versions) is read whole instead: slower, never different. Only damage that lies before
 * the context, and that no append can leave (a copy of a line above that line's own parent), is not seen from here.
 */
import type { Entry, Header } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { contextStart, type Settings, settingsIn } from "../projection.ts";
import type { OpenReport } from "../types.ts";
import { CURRENT_VERSION, type ReadHeader, readHeader } from "./header.ts";
import { backwardBatches } from "./lines.ts";
import type { ByteSource } from "./source.ts";
import { Walk, type WalkOptions } from "./walk.ts";
import { type EntryRef, readWhole, type Whole } from "./whole.ts";

/** What is known of an open transcript: enough for its context. */
export interface Loaded {
  /** Oldest first, from where the context begins (or before) to the leaf. Its last entry is the leaf. */
  readonly path: readonly Entry[];
  /** Whether the path begins at its root. */
  readonly whole: boolean;
  /** In force before the path's first entry; null when it was not asked for. */
  readonly earlier: Settings | null;
  readonly header: Header | null;
  readonly version: number;
  readonly report: OpenReport;
}

/**
 * Loads what the context of the leaf (or of `options.leaf`) needs. Throws `entry_missing` when that leaf is not there.
 * With `settings`, reads on until model and thinking level are known, which may be at the beginning of the file.
 */
export async function readTail(source: ByteSource, options: WalkOptions = {}): Promise<Loaded> {
  const header = await readHeader(source);
  const walked = header.version < CURRENT_VERSION ? null : await walkBack(source, options);
  if (walked === null) return loadFromWhole(await readWhole(source), options);
  return loadFromWalk(walked.walk, header, walked.atStart);
}

async function walkBack(source: ByteSource, options: WalkOptions): Promise<{ walk: Walk; atStart: boolean } | null> {
  const walk = new Walk(options);
  for await (const batch of backwardBatches(source)) {
    for (const line of batch) {
      const step = walk.step(line);
      if (step === "whole") return null;
      if (step === "done") return { walk, atStart: line.offset === 0 };
    }
  }
  return walk.end() === "whole" ? null : { walk, atStart: true };
}

function loadFromWalk(walk: Walk, header: ReadHeader, atStart: boolean): Loaded {
  return {
    path: walk.found.toReversed(),
    whole: walk.isWhole || walk.found.length === 0,
    earlier: walk.settings,
    header: header.header,
    version: header.version,
    report: {
      ...walk.tally,
      partial: !atStart,
      header: header.state,
      gaps: [],
      duplicates: [],
      stale: [],
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
      (ref.type === "thinking_level_change" && thinkingLevel === null) ||
      ((ref.type === "message" || ref.type === "model_change") && model === null);
    if (!mayTell) continue;
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
  const last = added.at(-1);
  if (last === undefined) return loaded;
  const known = indexById(loaded.path);
  const fresh = indexById(added);
  const isNew = fresh.size === added.length && !added.some((entry) => known.has(entry.id));
  if (!isNew || !isRising([...loaded.path, ...added])) return null;
  const { above, at } = climb(added, fresh, last.returnTo ?? last.id);
  if (at === null) return { ...loaded, path: above, whole: true };
  const index = known.get(at);
  if (index === undefined) return null;
  const path = [...loaded.path.slice(0, index + 1), ...above];
  const start = contextStart(path);
  return loaded.whole || (start.compaction !== -1 && start.found) ? { ...loaded, path } : null;
}

function indexById(entries: readonly Entry[]): ReadonlyMap<string, number> {
  return new Map(entries.map((entry, index) => [entry.id, index]));
}

/** Writers' numbers only grow; a smaller one after a larger may be stale, which the whole file tells. */
function isRising(entries: readonly Entry[]): boolean {
  const numbers = entries.flatMap((entry) => (entry.g === undefined ? [] : [entry.g]));
  return numbers.every((g, index) => index === 0 || g >= (numbers[index - 1] ?? 0));
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
