/**
 * Oddities that lose nothing: blank lines, carriage returns, types nobody here knows.
 * Invariant: memory does not grow with their number; each kind has one record, with the place of its first line.
 */
import type { LinePlace, OpenReport } from "../types.ts";
import type { RawLine } from "./lines.ts";

export type Note = OpenReport["noted"][number];

/** The types of docs/format.md. */
const KNOWN: ReadonlySet<string> = new Set([
  "message",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
  "usage",
  "context_edit",
]);

const CARRIAGE_RETURN = 0x0d;

export class Notes {
  readonly #found = new Map<Note["what"], LinePlace & { lines: number }>();

  blank(line: RawLine, number: number | null): void {
    this.#add("blank line", line, number);
  }

  entry(line: RawLine, number: number | null, type: string): void {
    if (!KNOWN.has(type)) this.#add("unknown type", line, number);
    if (line.endsWith(CARRIAGE_RETURN)) this.#add("carriage return", line, number);
  }

  list(): readonly Note[] {
    return [...this.#found].map(([what, found]) => ({ what, ...found }));
  }

  /** Lines come in either order. */
  #add(what: Note["what"], { offset }: RawLine, line: number | null): void {
    const found = this.#found.get(what);
    if (found === undefined) this.#found.set(what, { lines: 1, line, offset });
    else this.#found.set(what, { ...(found.offset < offset ? found : { line, offset }), lines: found.lines + 1 });
  }
}
