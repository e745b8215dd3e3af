/**
 * The entry that says which bootstrap a turn was given, and looking for it from the end of a conversation. Pure.
 *
 * Invariant: looking back is bounded, follows the branch, and never goes behind a compaction: what the model was told before
 * one may not be told any more.
 */
import { isObject } from "@holdfast/base";
import { type Entry, isCompaction, type NewEntry } from "@holdfast/sessions";
import { customsOf, customTypeOf } from "../../entries.ts";
import type { Bootstrap } from "./compose.ts";
import { isMemory } from "./kinds.ts";

export const INJECTED = "openclaw:bootstrap-context:full";
const BYTES_MAX = 256 * 1024;
const RECORDS_MAX = 500;
/** Hex digits of a file's hash. */
const DIGITS = 16;

export interface Marker {
  /** Of the bootstrap. */
  readonly hash: string;
  /** What it was made with, besides the files: kind of run and limits. */
  readonly form: string;
  /** The beginning of each file's hash, by name. */
  readonly files: Readonly<Record<string, string>>;
}

export function markerOf({ hash, files }: Bootstrap, form: string): Marker {
  return { hash, form, files: Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256.slice(0, DIGITS)])) };
}

export function markerEntry(marker: Marker): NewEntry {
  return { type: "custom", customType: INJECTED, data: { ...marker } };
}

export interface Behind {
  /** What this item's own turn was given before, in this life or an earlier one. */
  readonly own: Marker | null;
  /** What the newest turn before it was given. */
  readonly earlier: Marker | null;
}

/** `newestFirst`: the current branch from its end. `start`: the leaf at which the item began. */
export function lookBack(newestFirst: Iterable<Entry>, start: string | null): Behind {
  let own: Marker | null = null;
  let before = false;
  for (const entry of tail(newestFirst)) {
    before ||= entry.id === start;
    const marker = markerIn(entry);
    if (marker === null) continue;
    if (before) return { own, earlier: marker };
    own ??= marker;
  }
  return { own, earlier: null };
}

/** SHA-256 of every file that calls of this branch meant to leave, since the bootstrap of this hash was first given. */
export function writtenSince(newestFirst: Iterable<Entry>, hash: string): ReadonlySet<string> {
  const written = new Set<string>();
  for (const entry of tail(newestFirst)) {
    const marker = markerIn(entry);
    if (marker !== null && marker.hash !== hash) break;
    for (const { evidence } of customsOf([entry], "holdfast:intent"))
      if (isObject(evidence) && typeof evidence.planned === "string") written.add(evidence.planned);
  }
  return written;
}

/** As far as one looks. */
function* tail(newestFirst: Iterable<Entry>): Generator<Entry> {
  let bytes = 0;
  let records = 0;
  for (const entry of newestFirst) {
    records += 1;
    bytes += bytesOf(entry, BYTES_MAX - bytes);
    if (records > RECORDS_MAX || bytes > BYTES_MAX || isCompaction(entry)) return;
    yield entry;
  }
}

/** About as many as its line has; counting stops soon after `most`. */
function bytesOf(value: unknown, most: number): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  for (const [name, member] of Object.entries(value)) {
    if (bytes > most) break;
    bytes += name.length + 4 + bytesOf(member, most - bytes);
  }
  return bytes;
}

/** Null for other entries. One of another program names no hash that could be ours. */
function markerIn(entry: Entry): Marker | null {
  if (customTypeOf(entry) !== INJECTED) return null;
  const [data = {}] = customsOf([entry], INJECTED);
  const { hash, form, files } = data;
  return {
    hash: typeof hash === "string" ? hash : "",
    form: typeof form === "string" ? form : "",
    files: isObject(files) ? (files as Readonly<Record<string, string>>) : {},
  };
}

/**
 * Whether a bootstrap differs from the marked one only by memory that this conversation's own calls wrote since: its model has
 * that in its history, so nothing has to be told again.
 */
export function isOwnMemory(marker: Marker, now: Bootstrap, form: string, written: () => ReadonlySet<string>): boolean {
  if (marker.form !== form) return false;
  const { files } = markerOf(now, form);
  const names = new Set([...Object.keys(files), ...Object.keys(marker.files)]);
  const other = [...names].filter((name) => files[name] !== marker.files[name]);
  if (other.length === 0 || !other.every(isMemory)) return false;
  const known = written();
  return other.every((name) => now.files.some((file) => file.name === name && known.has(file.sha256)));
}
