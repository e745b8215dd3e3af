/**
 * The entry by which a transcript that is made from another file says whose it is.
 * Invariant: the same file makes the same entry, so making it twice gives the same transcript.
 */
import { sha256 } from "@holdfast/base";
import type { CustomEntry } from "../entry.ts";

/** `timestamp`: when the conversation began, as its file says. */
export function aboutEntry(key: string, data: Readonly<Record<string, unknown>>, timestamp: string): CustomEntry {
  const id = `about-${sha256(key).slice(0, 16)}`;
  const at = Number.isFinite(Date.parse(timestamp)) ? timestamp : new Date(0).toISOString();
  return { type: "custom", id, parentId: null, timestamp: at, customType: "holdfast:session", data: { key, ...data } };
}
