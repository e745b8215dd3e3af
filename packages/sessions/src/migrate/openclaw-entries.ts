/**
 * OpenClaw's own kinds of entries, said in ours. Pure.
 * Invariant: what its model would not see any more (it stands before a reset) ours does not see either, and it stays in the file.
 */
import { type Entry, fieldsOf, identify } from "../entry.ts";

/** A reset begins the conversation anew in the same file: as a root, or as a summary where it keeps something. */
export function adjustEntry(entry: Entry): Entry {
  if (entry.type !== "reset") return entry;
  const { type: _, ...fields } = fieldsOf(entry);
  const { firstKeptEntryId } = fields;
  if (typeof firstKeptEntryId === "string") {
    const details = { strategy: "truncate" };
    const summary = "[Conversation reset]";
    return identify({ ...fields, type: "compaction", summary, tokensBefore: 0, details }, entry.id, entry.parentId);
  }
  const data = { ...fields, after: entry.parentId };
  const { timestamp } = entry;
  return identify({ type: "custom", timestamp, customType: "openclaw:reset", data }, entry.id, null);
}
