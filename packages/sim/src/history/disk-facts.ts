/**
 * What is on a simulated disk, read by rules written down here a second time: JSON lines, ids, parents, the last line is
 * the leaf; rows from the snapshot and the journals over it. Shares no code with the engine that wrote it.
 */
import { errnoOf, isObject, tryParse } from "@holdfast/base";
import type { DiskImage } from "../disk/image.ts";

export interface LineFact {
  readonly id: string;
  readonly parentId: string | null;
  readonly g: number | null;
  readonly kind: string;
}

export interface TranscriptFacts {
  readonly headerId: string | null;
  /** In file order. */
  readonly entries: readonly LineFact[];
  /** Lines that are neither blank nor a header nor an entry. */
  readonly damaged: number;
}

export interface RowFact {
  readonly sessionId: string;
  readonly sessionFile: string;
  readonly note: string | null;
}

export interface DiskFacts {
  readonly rows: ReadonlyMap<string, RowFact>;
  /** By file name, live ones only. */
  readonly transcripts: ReadonlyMap<string, TranscriptFacts>;
  /** Names that no finished work leaves behind. */
  readonly leftovers: readonly string[];
}

const JOURNAL = /^sessions\.journal-(\d+)\.jsonl$/;

export function factsOf(image: DiskImage, directory: string): DiskFacts {
  const names = namesIn(image, directory);
  const text = (name: string): string => textAt(image, `${directory}/${name}`);
  const journals = names.filter((name) => JOURNAL.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  const transcripts = names.filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."));
  return {
    rows: rowsOf(names.includes("sessions.json") ? text("sessions.json") : "{}", journals.map(text)),
    transcripts: new Map(transcripts.map((name) => [name, transcriptOf(text(name))])),
    leftovers: names.filter(
      (name) => (name.endsWith(".new") && !name.startsWith(".store.json.")) || name.endsWith(".tmp"),
    ),
  };
}

function namesIn(image: DiskImage, directory: string): readonly string[] {
  try {
    return image.names.list(image.at(directory)).map(([name]) => name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function textAt(image: DiskImage, path: string): string {
  return image.inode(image.at(path)).content.cache.toString("utf8");
}

function numberOf(journal: string): number {
  return Number(JOURNAL.exec(journal)?.[1]);
}

function rowsOf(snapshot: string, journals: readonly string[]): Map<string, RowFact> {
  const rows = new Map<string, RowFact>();
  const whole = tryParse(snapshot);
  const put = (key: string, value: unknown): void => {
    if (!isObject(value)) return void rows.delete(key);
    const { sessionId, sessionFile, note } = value;
    const text = typeof note === "string" ? note : null;
    rows.set(key, { sessionId: String(sessionId), sessionFile: String(sessionFile), note: text });
  };
  for (const [key, value] of Object.entries(isObject(whole) ? whole : {})) put(key, value);
  for (const line of journals.flatMap((journal) => journal.split("\n").slice(0, -1))) {
    const parsed = tryParse(withoutNuls(line));
    if (isObject(parsed) && typeof parsed.key === "string") put(parsed.key, parsed.entry);
  }
  return rows;
}

/** What a power loss may leave before and after a line, or instead of one. */
function withoutNuls(line: string): string {
  return line.replace(/^\0+|\0+$/g, "");
}

function transcriptOf(text: string): TranscriptFacts {
  const lines = text
    .split("\n")
    .map(withoutNuls)
    .filter((line) => line.trim() !== "");
  const values = lines.map(tryParse);
  const header = values[0];
  const entries = values.flatMap((value) => (isObject(value) && typeof value.id === "string" ? [value] : []));
  const isHeader = isObject(header) && header.type === "session";
  const own = entries.filter(({ type }) => type !== "session");
  return {
    headerId: isHeader && typeof header.id === "string" ? header.id : null,
    entries: own.map(({ id, parentId, g, customType, type }) => ({
      id: String(id),
      parentId: typeof parentId === "string" ? parentId : null,
      g: typeof g === "number" ? g : null,
      kind: String(customType ?? type),
    })),
    damaged: values.length - own.length - (isHeader ? 1 : 0),
  };
}

/** Ids from the leaf to the root; a parent that is not there is the nearest line before. */
export function pathOf(entries: readonly LineFact[]): readonly string[] {
  return ancestorsOf(entries, entries.length - 1);
}

/** Ids of the entry at `index` and of those above it, up to the root. */
export function ancestorsOf(entries: readonly LineFact[], index: number): readonly string[] {
  const path: string[] = [];
  for (let at = index; at >= 0; ) {
    const entry = entries[at];
    if (entry === undefined) break;
    path.push(entry.id);
    if (entry.parentId === null) break;
    const parent = entries.findLastIndex(({ id }, place) => place < at && id === entry.parentId);
    at = parent === -1 ? at - 1 : parent;
  }
  return path;
}
