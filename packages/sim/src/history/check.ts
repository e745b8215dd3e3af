/**
 * Holds what is on the disk against what clients were told. Every sentence it returns is a broken promise.
 *
 * Told means kept: once, in order, on the branch it was told to be on, in the conversation it was told to be in, live or in
 * the archive. What was asked and never answered may be there, once, or not. Pure; believes only the history and the bytes.
 */
import { checkCopied, checkLines } from "./check-entries.ts";
import { checkRow, endedBy } from "./check-row.ts";
import type { DiskFacts, PlacedTranscript } from "./disk-facts.ts";
import { type Act, type History, isTold, toldAt } from "./history.ts";
import { type TranscriptFacts, transcriptOf } from "./transcript-facts.ts";

export interface CheckOptions {
  /** Whether something happened that may leave a torn line behind. */
  readonly mayDamage: boolean;
  /** Whether what was begun has been given the time to end: nothing that was made aside is left. */
  readonly isSettled: boolean;
  /** Whether whoever came since could fold the index: a lock file of that stays when it is not proven that its holder is dead. */
  readonly mayFold?: boolean;
  /** Whether somebody opened every conversation since, or tidied up: rows and transcripts agree. */
  readonly isRecovered?: boolean;
  /** Whether somebody tidied up since: what was ended is in the archive. */
  readonly isTidied?: boolean;
  /** What transcripts (by session id) and other files (by path) began with: not a byte of it may change. */
  readonly originals?: ReadonlyMap<string, Buffer>;
  /** Sessions whose transcripts were damaged from the beginning. */
  readonly odd?: ReadonlySet<string>;
}

export function violationsIn(history: History, facts: DiskFacts, options: CheckOptions): readonly string[] {
  const keys = conversationsIn(history);
  const ofKeys = keys.flatMap((key) => {
    const acts = history.acts.filter((act) => act.key === key);
    return checkKey(key, acts, facts, options);
  });
  const placed = [...facts.transcripts.values()].flat();
  return [
    ...ofKeys,
    ...checkRepairs(history, facts),
    ...placed.flatMap((one) => checkFile(one, options)),
    ...checkPlaces(facts, options),
    ...checkOriginals(facts, options),
    ...(options.isSettled ? leftIn(facts, options).map((name) => `${name} was left behind`) : []),
  ];
}

function leftIn({ leftovers }: DiskFacts, { mayFold = true }: CheckOptions): readonly string[] {
  return leftovers.filter((name) => mayFold || !name.startsWith("sessions.json."));
}

/** Keys that anybody spoke of. */
export function conversationsIn(history: History): readonly string[] {
  return [...new Set(history.acts.flatMap(({ key, what }) => (what === "repair" ? [] : [key])))];
}

function checkKey(key: string, acts: readonly Act[], facts: DiskFacts, options: CheckOptions): string[] {
  const ids = [...new Set(acts.flatMap(({ told }) => (told?.done === undefined ? [] : [told.done.sessionId])))];
  const row = facts.rows.get(key);
  const moves = acts.filter(({ what }) => what === "reset" || what === "clear" || what === "restore").length;
  return [
    ...(ids.length > 1 + moves ? [`${key} was told to be ${ids.join(" and ")}`] : []),
    ...checkRow(key, acts, row),
    ...(row === undefined ? [] : checkUpdates(key, acts, row.note)),
    ...checkCopy(key, acts, facts),
    ...ids.flatMap((id) => checkSession(key, id, acts, facts, options)),
  ];
}

/** One session: its transcript is somewhere, where it is looked for, and holds what was told. */
function checkSession(
  key: string,
  id: string,
  acts: readonly Act[],
  facts: DiskFacts,
  options: CheckOptions,
): string[] {
  const own = acts.filter((act) => act.told?.done === undefined || act.told.done.sessionId === id);
  const found = longest(facts.transcripts.get(id) ?? []);
  // A row may be changed before its transcript is begun; whoever opened it was told that it is there.
  const isBegun = own.some((act) => isTold(act) && act.what !== "update" && act.what !== "reset");
  if (found === undefined) return isBegun ? [`${key}: the transcript of ${id} is not there`] : [];
  const row = facts.rows.get(key);
  const isElsewhere = row?.sessionId === id && row.sessionFile !== found.file;
  const isEnded = endedBy(acts).has(id);
  const wrong = [
    ...(options.isRecovered && isElsewhere ? [`${key}: its row says ${row?.sessionFile}, it is ${found.file}`] : []),
    ...(options.isTidied && isEnded && found.place === "live" ? [`${key}: ${id} was ended and is not put away`] : []),
  ];
  return [...wrong, ...checkLines(own, found.facts.entries)];
}

function longest(placed: readonly PlacedTranscript[]): PlacedTranscript | undefined {
  return placed.toSorted((a, b) => b.bytes.length - a.bytes.length)[0];
}

/**
 * Never two for one session. Between the syncs of two directories a file may have two names, and a copy that was on its way
 * back may stand beside its original: until somebody tidies up they are one, or one is how the other began.
 */
function checkPlaces({ transcripts }: DiskFacts, { isRecovered, isTidied }: CheckOptions): string[] {
  if (isRecovered !== true) return [];
  return [...transcripts].flatMap(([id, placed]) => {
    const most = longest(placed)?.bytes ?? Buffer.alloc(0);
    const isOne = placed.every(({ bytes }) => most.subarray(0, bytes.length).equals(bytes));
    if (placed.length < 2 || (isOne && isTidied !== true)) return [];
    return [`${id} is there as ${placed.map(({ file }) => file).join(" and ")}`];
  });
}

/** A copy is whole or not there, also where nobody heard that it was made. */
function checkCopy(key: string, acts: readonly Act[], facts: DiskFacts): string[] {
  const row = facts.rows.get(key);
  const asked = acts.find(({ what }) => what === "fork");
  if (row?.isFork !== true || asked === undefined) return [];
  const copy = longest(facts.transcripts.get(row.sessionId) ?? []);
  return copy === undefined ? [`${key}: the copy is not there`] : checkCopied(asked.ids, copy.facts.entries);
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

/** A transcript that has its name is whole: header, then the entry that names its key. */
function checkFile({ id, file, facts }: PlacedTranscript, { mayDamage, odd }: CheckOptions): string[] {
  const { headerId, entries, damaged } = facts;
  // What was odd to begin with stays as it was.
  if (odd?.has(id) === true) return [];
  const found: string[] = [];
  if (headerId === null) found.push(`${file} has no header`);
  else if (headerId !== id) found.push(`${file} says it is ${headerId}`);
  if (entries[0]?.kind !== "holdfast:session") found.push(`${file} does not begin with the entry that names its key`);
  if (damaged > 0 && !mayDamage) found.push(`${file} has ${damaged} damaged lines that nothing can have damaged`);
  return found;
}

/** Transcripts are only ever added to, and other files not touched at all. */
function checkOriginals(facts: DiskFacts, { originals = new Map() }: CheckOptions): string[] {
  return [...originals].flatMap(([name, bytes]) => {
    const isPath = name.startsWith("/");
    const now = isPath ? facts.bytesAt(name) : longest(facts.transcripts.get(name) ?? [])?.bytes;
    const kept = now !== undefined && (isPath ? now.equals(bytes) : now.subarray(0, bytes.length).equals(bytes));
    return kept ? [] : [`${name} is not what it was`];
  });
}

/** What a repair made is sound and made once, also where nobody heard of it. */
function checkRepairs({ acts }: History, facts: DiskFacts): string[] {
  return acts.flatMap((act) => {
    if (act.what !== "repair") return [];
    const stem = act.key.replace(/\.jsonl$/, ".repaired");
    const made = facts.bytesAt(`${stem}.jsonl`);
    const missing = (act.told?.done?.files ?? []).filter((path) => facts.bytesAt(path) === undefined);
    const again = [`${stem}-2.jsonl`, `${stem}-2.damaged`].filter((path) => facts.bytesAt(path) !== undefined);
    const aside = made !== undefined && facts.bytesAt(`${stem}.damaged`) === undefined;
    return [
      ...missing.map((path) => `${path} was told to be there`),
      ...again.map((path) => `${path} was made twice`),
      ...(aside ? [`${stem}.jsonl is there without what could not be used`] : []),
      ...(made === undefined ? [] : checkSound(`${stem}.jsonl`, transcriptOf(made), act.ids)),
    ];
  });
}

function checkSound(path: string, { headerId, entries, damaged }: TranscriptFacts, ids: readonly string[]): string[] {
  const isSound = headerId !== null && damaged === 0 && entries.map(({ id }) => id).join() === ids.join();
  return isSound ? [] : [`${path} is not what a repair makes`];
}
