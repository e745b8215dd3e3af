/**
 * Rows in the order they were last written, so that the newest few cost the same among ten and among 100,000.
 *
 * An update adds a mark at the end; the mark that it makes wrong stays, is passed over, and goes when half of all are wrong.
 * Invariant: every row that is new enough has a mark with its present `updatedAt`, and marks are in order of time.
 */
import type { ListedSession, ListQuery, SessionRow } from "./types.ts";

interface Mark {
  readonly key: string;
  readonly at: number;
}

/** A little more than the rows may be marked before marks are thrown away: small maps are not done again and again. */
const SPARE_MARKS = 100;

/** How many of the newest rows are marked at first; all of them when somebody asks for more. */
const MARKED_FIRST = 2_000;

/** When a row was last written; one without a time, or with something else there, is the oldest. */
export function writtenAt(row: SessionRow): number {
  return typeof row.updatedAt === "number" ? row.updatedAt : 0;
}

export class Newest {
  readonly #rows: ReadonlyMap<string, SessionRow>;
  /** Of all rows that were not written before `#since`, oldest first; undefined until somebody asks. */
  #marks: Mark[] | undefined;
  #since = Number.NEGATIVE_INFINITY;

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
    if (at < this.#since) return;
    if (at >= (marks.at(-1)?.at ?? 0)) marks.push({ key, at });
    else marks.splice(placeOf(marks, at), 0, { key, at });
  }

  /** Rows whose key begins with `prefix`, the latest first, at most `limit`. */
  list({ prefix = "", limit = Number.POSITIVE_INFINITY }: ListQuery): readonly ListedSession[] {
    this.#marks ??= this.#mark(MARKED_FIRST);
    const found = this.#among(this.#marks, prefix, limit);
    if (found.length >= limit || this.#since === Number.NEGATIVE_INFINITY) return found;
    this.#marks = this.#mark(Number.POSITIVE_INFINITY);
    return this.#among(this.#marks, prefix, limit);
  }

  /** Marks at least the `count` newest rows. Finding their times is much cheaper than sorting all rows. */
  #mark(count: number): Mark[] {
    const times = count < this.#rows.size ? Float64Array.from(this.#rows.values(), writtenAt).sort() : undefined;
    this.#since = times?.at(-count) ?? Number.NEGATIVE_INFINITY;
    const marks: Mark[] = [];
    for (const [key, row] of this.#rows) {
      const at = writtenAt(row);
      if (at >= this.#since) marks.push({ key, at });
    }
    return marks.sort((a, b) => a.at - b.at);
  }

  #among(marks: readonly Mark[], prefix: string, limit: number): readonly ListedSession[] {
    const found: ListedSession[] = [];
    const seen = new Set<string>();
    for (let index = marks.length - 1; index >= 0 && found.length < limit; index--) {
      const { key, at } = marks[index] as Mark;
      if (!key.startsWith(prefix)) continue;
      const row = this.#rows.get(key);
      if (row === undefined || writtenAt(row) !== at || seen.has(key)) continue;
      seen.add(key);
      found.push({ key, row });
    }
    return found;
  }
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
