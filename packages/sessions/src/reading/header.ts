/**
 * The first line of a transcript, and what the format's version changes about the lines after it.
 * Invariant: a missing or damaged header never makes a file empty: its entries are read as version 3.
 */
import { isObject } from "@holdfast/base";
import { type Entry, fieldsOf, type Header, identify, parseLine } from "../entry.ts";
import type { OpenReport } from "../types.ts";
import { forward } from "./lines.ts";
import type { ByteSource } from "./source.ts";

export interface ReadHeader {
  readonly header: Header | null;
  readonly state: OpenReport["header"];
  readonly version: number;
}

const FIRST_BYTES = 4096;
export const CURRENT_VERSION = 3;

/** Reads no more than the first line, wherever that is; blank lines before it do not count. */
export async function readHeader(source: ByteSource): Promise<ReadHeader> {
  const first = await source.read(0, FIRST_BYTES);
  const end = first.indexOf("\n");
  const quick = headerOf(first.subarray(0, Math.max(0, end)));
  if (quick !== null) return quick;
  for await (const line of forward(source)) {
    const found = headerOf(line.bytes ?? Buffer.from("?"));
    if (found !== null) return found;
  }
  return { header: null, state: "missing", version: CURRENT_VERSION };
}

/** What the first line says; null for a blank one. */
export function headerOf(line: Uint8Array): ReadHeader | null {
  const parsed = parseLine(line);
  if (parsed.kind === "blank") return null;
  if (parsed.kind === "damaged") return { header: null, state: "damaged", version: CURRENT_VERSION };
  if (parsed.kind !== "header") return { header: null, state: "missing", version: CURRENT_VERSION };
  const { version, id } = fieldsOf(parsed.header);
  const state = typeof id === "string" ? "ok" : "damaged";
  return { header: parsed.header, state, version: typeof version === "number" ? version : 1 };
}

/** An entry of an older version as version 3 would say it. `ids` are those of the lines before, by position. */
export function upgraded(entry: Entry, version: number, ids: readonly string[]): Entry {
  const { firstKeptEntryIndex, ...rest } = fieldsOf(entry);
  if (entry.type === "compaction" && typeof firstKeptEntryIndex === "number") {
    // One that keeps nothing names its own line.
    const kept = firstKeptEntryIndex === ids.length ? entry.id : (ids[firstKeptEntryIndex] ?? "");
    return identify({ ...rest, firstKeptEntryId: kept }, entry.id, entry.parentId);
  }
  const { message } = rest;
  if (version >= CURRENT_VERSION || !isObject(message) || message.role !== "hookMessage") return entry;
  return identify({ ...rest, message: { ...message, role: "custom" } }, entry.id, entry.parentId);
}
