/**
 * Where a key may stand, after what its clients asked for and were told: which session, and whether it is put away.
 *
 * The last act that was told decides, and each that may have come after it may have had its way as well.
 * Invariant: a session that was told to be ended is never one of them, unless somebody asked for it again.
 */
import type { RowFact } from "./disk-facts.ts";
import { type Act, isTold, toldAt } from "./history.ts";

interface Standing {
  /** `new`: an id that nobody was told. */
  readonly id: string | "new";
  readonly place: "live" | "archived" | "gone";
}

export function checkRow(key: string, acts: readonly Act[], row: RowFact | undefined): string[] {
  const allowed = standingsOf(acts);
  if (allowed === undefined) return [];
  const known = new Set(acts.flatMap(({ told }) => (told?.done === undefined ? [] : [told.done.sessionId])));
  const is = standingOf(row, known);
  const fits = allowed.some(({ id, place }) => place === is.place && (place === "gone" || id === is.id));
  if (fits) return [];
  const may = [...new Set(allowed.map(({ id, place }) => `${id} ${place}`))].join(", ");
  return [`${key}: its row says ${row?.sessionId ?? "nothing"} ${is.place}, it may be: ${may}`];
}

function standingOf(row: RowFact | undefined, known: ReadonlySet<string>): Standing {
  if (row === undefined) return { id: "new", place: "gone" };
  const place = row.sessionFile.startsWith("archive/") ? "archived" : "live";
  return { id: known.has(row.sessionId) ? row.sessionId : "new", place };
}

/** Undefined: nobody was told anything. */
function standingsOf(acts: readonly Act[]): readonly Standing[] | undefined {
  const moving = acts.filter(({ what }) => what !== "look");
  const told = moving.filter(isTold);
  const last = told.toSorted((a, b) => toldAt(a) - toldAt(b)).at(-1);
  if (last === undefined) return undefined;
  const open = moving.filter((act) => act !== last && endOf(act, acts) > last.askedAt);
  let standings = outcomesOf(last, []);
  for (const act of open) standings = [...standings, ...outcomesOf(act, standings)];
  const ended = endedBy(moving, last);
  return standings.filter(({ id }) => !ended.has(id));
}

/** What one act makes of where the key stood; what was not told may have been done or not. */
function outcomesOf(act: Act, before: readonly Standing[]): readonly Standing[] {
  const done = act.told?.done;
  const ids = done === undefined ? before.map(({ id }) => id) : [done.sessionId];
  const at = (place: Standing["place"]): readonly Standing[] => ids.map((id) => ({ id, place }));
  const fresh: Standing = { id: "new", place: "live" };
  switch (act.what) {
    case "archive":
    case "cleanup":
      // Left undone, where it stood before.
      return at("archived");
    case "clear":
      return [{ id: "new", place: "gone" }];
    case "reset":
      return done === undefined ? [fresh] : at("live");
    case "update":
      return done === undefined ? [] : [...at("archived"), ...at("live")];
    default: {
      // A restore may name the session it wants.
      const wanted = act.what === "restore" ? act.ids.map((id): Standing => ({ id, place: "live" })) : [];
      return done === undefined ? [...at("live"), ...wanted, fresh] : at("live");
    }
  }
}

/** When an act can have done its last: when it was told, or when its process was seen to be gone. */
function endOf(act: Act, acts: readonly Act[]): number {
  if (act.told !== undefined) return act.told.at;
  const times = (one: Act) => [one.askedAt, ...(one.told === undefined ? [] : [one.told.at])];
  const own = acts.filter(({ process }) => process === act.process).flatMap(times);
  if (own.some((time) => time > act.askedAt)) return Number.POSITIVE_INFINITY;
  const others = acts.filter(({ process, askedAt }) => process !== act.process && askedAt > act.askedAt);
  return Math.min(Number.POSITIVE_INFINITY, ...others.map(({ askedAt }) => askedAt));
}

/** Sessions that were told to be ended before `last` was asked for, and were not asked for since. */
export function endedBy(acts: readonly Act[], last?: Act): ReadonlySet<string> {
  const until = last?.askedAt ?? Number.POSITIVE_INFINITY;
  const endings = acts.filter((act) => act.told?.done?.ended !== undefined && toldAt(act) <= until);
  const ended = new Set(endings.map((act) => act.told?.done?.ended ?? ""));
  for (const { what, ids } of acts) if (what === "restore") for (const id of ids) ended.delete(id);
  return ended;
}
