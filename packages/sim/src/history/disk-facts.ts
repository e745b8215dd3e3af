/**
 * What is on a simulated disk, read by rules written down here a second time: rows from the snapshot and the journals
 * over it, transcripts by their names, in the archive too. Shares no code with the engine that wrote it.
 */
import { gunzipSync } from "node:zlib";
import { errnoOf, isObject, tryParse } from "@holdfast/base";
import type { DiskImage } from "../disk/image.ts";
import { type TranscriptFacts, transcriptOf, withoutNuls } from "./transcript-facts.ts";

export interface RowFact {
  readonly sessionId: string;
  readonly sessionFile: string;
  readonly note: string | null;
  /** Whether it says that its transcript is a copy of another one's path. */
  readonly isFork: boolean;
}

/** A transcript under one of its names. */
export interface PlacedTranscript {
  /** Of the session, as the name says. */
  readonly id: string;
  /** Relative to the directory, without the ending of a packed one. */
  readonly file: string;
  readonly place: "live" | "archived";
  /** Why it was put away, as its name says. */
  readonly reason: string | null;
  readonly bytes: Buffer;
  readonly facts: TranscriptFacts;
}

export interface DiskFacts {
  readonly rows: ReadonlyMap<string, RowFact>;
  /** By session id. A packed copy beside its original is not among them. */
  readonly transcripts: ReadonlyMap<string, readonly PlacedTranscript[]>;
  /** Names that no finished work leaves behind. */
  readonly leftovers: readonly string[];
  /** Content of any other file. */
  bytesAt(path: string): Buffer | undefined;
}

const JOURNAL = /^sessions\.journal-(\d+)\.jsonl$/;
const LIVE = /^([^.]+)\.jsonl$/;
const ARCHIVED = /^([^.]+)\.([a-z]+)\.\d{8}T\d{9}Z\.jsonl(\.gz)?$/;

export function factsOf(image: DiskImage, directory: string): DiskFacts {
  const names = namesIn(image, directory);
  const archive = namesIn(image, `${directory}/archive`);
  const text = (name: string): string => contentAt(image, `${directory}/${name}`).toString("utf8");
  const journals = names.filter((name) => JOURNAL.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  const found = [
    ...names.flatMap((name) => liveAt(image, directory, name)),
    ...archive.flatMap((name) => archivedAt(image, directory, name)),
  ];
  return {
    rows: rowsOf(names.includes("sessions.json") ? text("sessions.json") : "{}", journals.map(text)),
    transcripts: Map.groupBy(found, ({ id }) => id),
    leftovers: [...names, ...archive].filter(isScrap),
    bytesAt: (path) => (isThere(image, path) ? contentAt(image, path) : undefined),
  };
}

/** What is made aside, under a name that nothing looks for. The store's own description is made once and for all. */
function isScrap(name: string): boolean {
  return (name.endsWith(".new") && !name.startsWith(".store.json.")) || name.endsWith(".tmp");
}

function liveAt(image: DiskImage, directory: string, name: string): readonly PlacedTranscript[] {
  const [, id] = LIVE.exec(name) ?? [];
  if (id === undefined) return [];
  const bytes = contentAt(image, `${directory}/${name}`);
  return [{ id, file: name, place: "live", reason: null, bytes, facts: transcriptOf(bytes) }];
}

function archivedAt(image: DiskImage, directory: string, name: string): readonly PlacedTranscript[] {
  const [, id, reason, packed] = ARCHIVED.exec(name) ?? [];
  const path = `${directory}/archive/${name}`;
  if (id === undefined || reason === undefined) return [];
  if (packed !== undefined && isThere(image, path.slice(0, -packed.length))) return [];
  const bytes = packed === undefined ? contentAt(image, path) : unpacked(contentAt(image, path));
  const file = `archive/${packed === undefined ? name : name.slice(0, -packed.length)}`;
  return [{ id, file, place: "archived", reason, bytes, facts: transcriptOf(bytes) }];
}

/** Bytes are never changed, so each are unpacked once. What is no gzip is an empty transcript. */
const UNPACKED = new WeakMap<Buffer, Buffer>();

function unpacked(bytes: Buffer): Buffer {
  const known = UNPACKED.get(bytes);
  if (known !== undefined) return known;
  let plain = Buffer.alloc(0);
  try {
    plain = gunzipSync(bytes);
  } catch {
    // Told by the checker: nothing of the transcript is there.
  }
  UNPACKED.set(bytes, plain);
  return plain;
}

function namesIn(image: DiskImage, directory: string): readonly string[] {
  try {
    return image.names.list(image.at(directory)).map(([name]) => name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function isThere(image: DiskImage, path: string): boolean {
  try {
    return !image.names.isDirectory(image.at(path));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function contentAt(image: DiskImage, path: string): Buffer {
  return image.inode(image.at(path)).content.cache;
}

function numberOf(journal: string): number {
  return Number(JOURNAL.exec(journal)?.[1]);
}

function rowsOf(snapshot: string, journals: readonly string[]): Map<string, RowFact> {
  const rows = new Map<string, RowFact>();
  const whole = tryParse(snapshot);
  const put = (key: string, value: unknown): void => {
    if (!isObject(value)) return void rows.delete(key);
    const { sessionId, sessionFile, note, forkedFrom } = value;
    const text = typeof note === "string" ? note : null;
    const isFork = forkedFrom !== undefined;
    rows.set(key, { sessionId: String(sessionId), sessionFile: String(sessionFile), note: text, isFork });
  };
  for (const [key, value] of Object.entries(isObject(whole) ? whole : {})) put(key, value);
  for (const line of journals.flatMap((journal) => journal.split("\n").slice(0, -1))) {
    const parsed = tryParse(withoutNuls(line));
    if (isObject(parsed) && typeof parsed.key === "string") put(parsed.key, parsed.entry);
  }
  return rows;
}
