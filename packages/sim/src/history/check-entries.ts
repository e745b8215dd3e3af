/**
 * The lines of one transcript against what clients were told about it: once, in order, on the branch it was told to be on,
 * one writer under one generation.
 */
import { type Act, isTold, toldAt } from "./history.ts";
import { ancestorsOf, type LineFact, pathOf, standing } from "./transcript-facts.ts";

/** `acts`: those of the session this transcript belongs to, and those nobody was told anything about. */
export function checkLines(acts: readonly Act[], lines: readonly LineFact[]): string[] {
  const entries = standing(lines);
  return [...checkEntries(acts, entries), ...checkOrder(acts, entries), ...checkWriters(acts, entries)];
}

/** Each entry once, with the parent its client was told. */
function checkEntries(acts: readonly Act[], entries: readonly LineFact[]): string[] {
  return acts.flatMap((act) => {
    if (isTold(act) && (act.what === "fork" || act.what === "import")) return checkCopied(act.ids, entries);
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

/** Each entry once, one below the other. */
export function checkCopied(ids: readonly string[], entries: readonly LineFact[]): string[] {
  const at = ids.map((id) => entries.findIndex((entry) => entry.id === id));
  const counts = ids.map((id) => entries.filter((entry) => entry.id === id).length);
  const wrong = ids.filter((_, index) => counts[index] !== 1);
  if (wrong.length > 0)
    return wrong.map((id) => `${id} was to be copied and is there ${counts[ids.indexOf(id)]} times`);
  const path = ancestorsOf(entries, at.at(-1) ?? -1).filter((id) => ids.includes(id));
  return path.toReversed().join() === ids.join() ? [] : [`of ${ids.join()} ${path.join()} are on one path`];
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
        { askedAt: firstAsked(writing, act), toldAt: toldAt(act), path: ancestorsOf(entries, at) },
        first.id,
      );
    });
  const leaf = { askedAt: Number.POSITIVE_INFINITY, toldAt: Number.POSITIVE_INFINITY, path: pathOf(entries) };
  return [...later, ...belowWhatWasTold(writing, leaf, "the leaf")];
}

/** Whoever asks again with the same ids may be told what came of the first time. */
function firstAsked(writing: readonly Act[], { ids, askedAt }: Act): number {
  const same = writing.filter((act) => act.what === "append" && act.ids[0] === ids[0]);
  return Math.min(askedAt, ...same.map((act) => act.askedAt));
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
  const foreign = new Set(acts.flatMap(({ ids, what }) => (what === "import" ? ids : [])));
  const byG = new Map<number, string>();
  let highest = 0;
  return entries.flatMap(({ id, g, kind }) => {
    const isForeign = foreign.has(id) || (foreign.size > 0 && kind === "holdfast:session");
    if (g === null) return isForeign ? [] : [`${id} has no generation`];
    const fell = g < highest ? [`${id} has generation ${g} after ${highest}`] : [];
    highest = Math.max(highest, g);
    const writer = writers.get(id);
    const other = byG.get(g);
    if (writer !== undefined) byG.set(g, writer);
    const shared = writer !== undefined && other !== undefined && other !== writer;
    return shared ? [...fell, `generation ${g} was written by ${other} and ${writer}`] : fell;
  });
}
