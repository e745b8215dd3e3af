/**
 * What an export has to know of a whole transcript before its first byte can be written: the tree, and what kind of
 * thing each entry is. One small record per entry; the entries themselves are read again when their turn comes.
 */
import { isObject } from "@holdfast/base";
import { type Entry, fieldsOf } from "../entry.ts";
import type { ByteSource } from "../reading/source.ts";
import { readWhole, type Whole } from "../reading/whole.ts";
import { noteLabel } from "../labels.ts";
import { isStorable } from "./stored.ts";

export interface Survey {
  readonly whole: Whole;
  /** By index: whether the entry is a message of some kind. */
  readonly isMessage: readonly boolean[];
  /** Summaries that came from a flat file, by index: whether messages named them as their parent there. */
  readonly flatSummaries: ReadonlyMap<number, boolean>;
  /** Labels by entry id. */
  readonly labels: ReadonlyMap<string, string>;
  /** What the conversation was called last. */
  readonly name: string | null;
}

export async function surveyOf(source: ByteSource): Promise<Survey> {
  const isMessage: boolean[] = [];
  const labels = new Map<string, string>();
  const flatSummaries = new Map<number, boolean>();
  const named: { name: string | null } = { name: null };
  const whole = await readWhole(source, (entry, index) => {
    const { flat, details } = fieldsOf(entry);
    if (entry.type === "compaction" && isObject(flat)) {
      flatSummaries.set(index, !(isObject(details) && details.standsAlone === true));
    }
    isMessage.push(isStorable(entry));
    noteLabel(labels, entry);
    if (entry.type === "session_info") named.name = nameIn(entry);
  });
  return { whole, isMessage, flatSummaries, labels, name: named.name };
}

function nameIn(entry: Entry): string | null {
  const { name } = fieldsOf(entry);
  return typeof name === "string" && name !== "" ? name : null;
}
