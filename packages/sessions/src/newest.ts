/**
 * Rows in the order they were last written, so that the newest few cost the same among ten and among 100,000.
 *
 * An update adds a mark at the end; the mark that it makes wrong stays, is passed over, and goes when half of all are wrong.
 * Invariant: every row has a mark with its present `updatedAt`, and marks are in order of time.
 */
import type { ListedSession, ListQuery, SessionRow } from "./types.ts";

interface Mark {
  readonly key: string;
  readonly at: number;
}

/** A little more than the rows may be marked before marks are thrown away: small maps are not done again and again. */
const SPARE_MARKS = 100;

/** When a row was last written; one without a time, or with something else there, is the oldest. */
export function writtenAt(row: SessionRow): number {
  return typeof row.updatedAt === "number" ? row.updatedAt : 0;
}

export class Newest {
  readonly #rows: ReadonlyMap<string, SessionRow>;
  /** Oldest first; undefined until somebody asks. */
  #marks: Mark[] | undefined;

  /** `rows` stays the caller's, who tells about every change with `wrote`. */
  constructor(rows: ReadonlyMap<string, SessionRow>) {
    this.#rows = rows;
  }

  /** The row of `key` was set or removed. */
  wrote(key: string): void {
    const row = this.#rows.get(key);
    const marks = this.#marks;
    if (row === undefined || marks === undefined) return;
    if (marks.length > 2 * this.#rows.size + SPARE_MARKS) {
      this.#marks = undefined;
      return;
    }
    const at = writtenAt(row);
    if (at >= (marks.at(-1)?.at ?? 0)) marks.push({ key, at });
    else marks.splice(placeOf(marks, at), 0, { key, at });
  }

  /** Rows whose key begins with `prefix`, the latest first, at most `limit`. */
  list({ prefix = "", limit = Number.POSITIVE_INFINITY }: ListQuery): readonly ListedSession[] {
    this.#marks ??= marksOf(this.#rows);
    const found: ListedSession[] = [];
    const seen = new Set<string>();
    for (let index = this.#marks.length - 1; index >= 0 && found.length < limit; index--) {
      const { key, at } = this.#marks[index] as Mark;
      if (!key.startsWith(prefix)) continue;
      const row = this.#rows.get(key);
      if (row === undefined || writtenAt(row) !== at || seen.has(key)) continue;
      seen.add(key);
      found.push({ key, row });
    }
    return found;
  }
}

/** All marks in order. Bare numbers are sorted many times faster than objects, so each mark then looks for its place. */
function marksOf(rows: ReadonlyMap<string, SessionRow>): Mark[] {
  const marks = Array.from(rows, ([key, row]) => ({ key, at: writtenAt(row) }));
  const times = Float64Array.from(marks, ({ at }) => at).sort();
  const taken = new Uint32Array(marks.length);
  const sorted: Mark[] = marks.slice();
  for (const mark of marks) {
    const first = firstAt(times, mark.at);
    const place = first + Number(taken[first]);
    sorted[place] = mark;
    taken[first] = place - first + 1;
  }
  return sorted;
}

/** The first place of a time that is there. */
function firstAt(times: Float64Array, at: number): number {
  let from = 0;
  let to = times.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (Number(times[middle]) < at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** After every mark that is not later than `at`. */
function placeOf(marks: readonly Mark[], at: number): number {
  let from = 0;
  let to = marks.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((marks[middle] as Mark).at <= at) from = middle + 1;
    else to = middle;
  }
  return from;
}
