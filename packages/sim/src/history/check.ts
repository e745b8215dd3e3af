/**
 * Holds what is on the disk against what clients were told. Every sentence it returns is a broken promise.
 *
 * Told means kept: once, in order, on the branch it was told to be on. What was asked and never answered may be there,
 * once, or not. Pure; believes only the history and the bytes.
 */
import type { Act, History } from "./history.ts";
import { ancestorsOf, type DiskFacts, type LineFact, pathOf, type TranscriptFacts } from "./disk-facts.ts";

export interface CheckOptions {
  /** Whether something happened that may leave a torn line behind. */
  readonly mayDamage: boolean;
  /** Whether what was begun has been given the time to end. */
  readonly isSettled: boolean;
}

export function violationsIn(history: History, facts: DiskFacts, options: CheckOptions): readonly string[] {
  const keys = [...new Set(history.acts.map(({ key }) => key))];
  const ofKeys = keys.flatMap((key) =>
    checkKey(
      key,
      history.acts.filter((act) => act.key === key),
      facts,
    ),
  );
  const ofFiles = [...facts.transcripts].flatMap(([name, transcript]) => checkFile(name, transcript, options));
  const left = options.isSettled ? facts.leftovers.map((name) => `${name} was left behind`) : [];
  return [...ofKeys, ...ofFiles, ...left];
}

function checkKey(key: string, acts: readonly Act[], facts: DiskFacts): string[] {
  const ids = [...new Set(acts.flatMap(({ told }) => (told?.done === undefined ? [] : [told.done.sessionId])))];
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length > 1) return [`${key} was told to be ${ids.join(" and ")}`];
  const row = facts.rows.get(key);
  if (row === undefined) return [`${key}: its row is gone`];
  if (row.sessionId !== id) return [`${key}: its row names ${row.sessionId}, clients were told ${id}`];
  const transcript = facts.transcripts.get(row.sessionFile);
  // A row may be changed before its transcript is begun; whoever opened it was told that it is there.
  const isBegun = acts.some((act) => isTold(act) && act.what !== "update");
  if (transcript === undefined) return isBegun ? [`${key}: its transcript ${row.sessionFile} is not there`] : [];
  return [
    ...checkUpdates(key, acts, row.note),
    ...checkEntries(acts, transcript.entries),
    ...checkOrder(acts, transcript.entries),
    ...checkWriters(acts, transcript.entries),
  ];
}

/** The row holds the last value that was told, or one that was asked for later and may have come through. */
function checkUpdates(key: string, acts: readonly Act[], note: string | null): string[] {
  const updates = acts.filter(({ what }) => what === "update");
  const told = updates.filter((act) => act.told?.done !== undefined);
  const last = told.toSorted((a, b) => toldAt(a) - toldAt(b)).at(-1);
  const open = updates.filter(
    (act) => act === last || last === undefined || act.askedAt > toldAt(last) || !isTold(act),
  );
  const allowed: (string | null | undefined)[] = [...open, ...overlapping(told, last)].map(({ value }) => value);
  if (last === undefined) allowed.push(null);
  return allowed.includes(note) ? [] : [`${key}: its row says ${note}, clients were told ${last?.value ?? "nothing"}`];
}

/** Updates whose answer came while the last one was being asked: either may have been the later one. */
function overlapping(told: readonly Act[], last: Act | undefined): readonly Act[] {
  return last === undefined ? [] : told.filter((act) => toldAt(act) > last.askedAt);
}

function toldAt(act: Act): number {
  return act.told?.at ?? Number.POSITIVE_INFINITY;
}

function isTold(act: Act): boolean {
  return act.told?.done !== undefined;
}

/** Each entry once, with the parent its client was told. */
function checkEntries(acts: readonly Act[], entries: readonly LineFact[]): string[] {
  return acts.flatMap((act) => {
    const told = act.told?.done?.entries ?? [];
    const kept = told.flatMap(({ id, parentId }) => {
      const found = entries.filter((entry) => entry.id === id);
      if (found.length === 0) return [`${id} was acknowledged and is not there`];
      if (found.length > 1) return [`${id} is there ${found.length} times`];
      return found[0]?.parentId === parentId ? [] : [`${id} hangs on ${found[0]?.parentId}, told was ${parentId}`];
    });
    const asked = act.what === "append" ? act.ids : [];
    const twice = asked.filter((id) => entries.filter((entry) => entry.id === id).length > 1);
    return [...kept, ...twice.filter((id) => !told.some((one) => one.id === id)).map((id) => `${id} is there twice`)];
  });
}

/** Whoever asked after something was told stands below it, and so does the leaf. */
function checkOrder(acts: readonly Act[], entries: readonly LineFact[]): string[] {
  const writing = acts.filter(({ what }) => what === "append" || what === "branch");
  const later = writing
    .filter((act) => isTold(act) && act.what === "append")
    .flatMap((act) => {
      const [first] = act.told?.done?.entries ?? [];
      const at = entries.findIndex(({ id }) => id === first?.id);
      if (first === undefined || at === -1) return [];
      return belowWhatWasTold(
        writing,
        { askedAt: act.askedAt, toldAt: toldAt(act), path: ancestorsOf(entries, at) },
        first.id,
      );
    });
  const leaf = { askedAt: Number.POSITIVE_INFINITY, toldAt: Number.POSITIVE_INFINITY, path: pathOf(entries) };
  return [...later, ...belowWhatWasTold(writing, leaf, "the leaf")];
}

interface Standing {
  readonly askedAt: number;
  readonly toldAt: number;
  readonly path: readonly string[];
}

/** The last that was told before, unless somebody moved meanwhile: then it may be below where that went. */
function belowWhatWasTold(writing: readonly Act[], { askedAt, toldAt: until, path }: Standing, what: string): string[] {
  const before = writing.filter((act) => isTold(act) && toldAt(act) < askedAt);
  const last = before.toSorted((a, b) => toldAt(a) - toldAt(b)).at(-1);
  const anchor = last?.told?.done?.entries.at(-1)?.id;
  if (last === undefined || anchor === undefined || path.includes(anchor)) return [];
  const moves = writing.filter((act) => act.what === "branch" && act !== last && act.askedAt < until);
  const meanwhile = moves.filter((move) => !isTold(move) || toldAt(move) > last.askedAt);
  if (meanwhile.some((move) => path.includes(move.ids[0] ?? ""))) return [];
  return [`${what} is not below ${anchor}, which was told before`];
}

/** One generation has one writer, and generations only grow. */
function checkWriters(acts: readonly Act[], entries: readonly LineFact[]): string[] {
  const writers = new Map(
    acts.flatMap(({ ids, process, what }) => (what === "append" ? ids.map((id) => [id, process]) : [])),
  );
  const byG = new Map<number, string>();
  let highest = 0;
  return entries.flatMap(({ id, g }) => {
    if (g === null) return [`${id} has no generation`];
    const fell = g < highest ? [`${id} has generation ${g} after ${highest}`] : [];
    highest = Math.max(highest, g);
    const writer = writers.get(id);
    const other = byG.get(g);
    if (writer !== undefined) byG.set(g, writer);
    const shared = writer !== undefined && other !== undefined && other !== writer;
    return shared ? [...fell, `generation ${g} was written by ${other} and ${writer}`] : fell;
  });
}

/** A transcript that has its name is whole: header, then the entry that names its key. */
function checkFile(
  name: string,
  { headerId, entries, damaged }: TranscriptFacts,
  { mayDamage }: CheckOptions,
): string[] {
  const found: string[] = [];
  if (headerId === null) found.push(`${name} has no header`);
  else if (`${headerId}.jsonl` !== name) found.push(`${name} says it is ${headerId}`);
  if (entries[0]?.kind !== "holdfast:session") found.push(`${name} does not begin with the entry that names its key`);
  if (damaged > 0 && !mayDamage) found.push(`${name} has ${damaged} damaged lines that nothing can have damaged`);
  return found;
}
