/**
 * What is wrong with an entry: for readers, who go on without what it lacks, and for `append`, which refuses it.
 * Invariant: what this file lets through can be written as one line and reads back as the same value.
 */
import { isObject, LIMITS, messageOf } from "@holdfast/base";
import type { NewEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { plainCopy } from "./plain-copy.ts";

/** Ids that are made from line numbers; never written. */
const DERIVED_ID = /^line-\d+$/;
/** Printable ASCII without quote and backslash: what stands in a line exactly as it is. */
const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

/** State that decides who may write and where: from a caller it could shut everybody out. */
const STORE_KINDS: ReadonlySet<string> = new Set(
  ["session", "fence", "closed", "opened"].map((kind) => `holdfast:${kind}`),
);

const STRING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  model_change: ["provider", "modelId"],
  thinking_level_change: ["thinkingLevel"],
  compaction: ["summary", "firstKeptEntryId"],
  branch_summary: ["fromId", "summary"],
  custom: ["customType"],
  custom_message: ["customType"],
  label: ["targetId"],
  context_edit: ["targetId"],
};

/** What makes an entry unusable for its type, or null. Unknown types have no flaws. */
export function entryFlaw(fields: Readonly<Record<string, unknown>>): string | null {
  const type = String(fields.type);
  if (type === "message") return messageFlaw(fields.message);
  const missing = (STRING_FIELDS[type] ?? []).find((name) => typeof fields[name] !== "string");
  if (missing !== undefined) return `${type} without ${missing}`;
  if (type === "context_edit" && !isReplacement(fields.replacement)) return "context_edit without replacement";
  if (type === "custom_message" && !isContent(fields.content)) return "custom_message without content";
  return null;
}

function isReplacement(value: unknown): boolean {
  return value === null || (isObject(value) && (typeof value.content === "string" || Array.isArray(value.content)));
}

function isContent(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "string") return true;
  return Array.isArray(value) && value.every(isObject);
}

function messageFlaw(message: unknown): string | null {
  if (!isObject(message) || typeof message.role !== "string") return "message without a role";
  return isContent(message.content) ? null : "message with wrong content";
}

/**
 * What a caller wants to append, as it is at this moment; the caller keeps the object. Refuses what may not be appended:
 * `bad_entry` with the reason.
 */
export function takeNewEntry(entry: NewEntry): NewEntry {
  const copy = plainCopy(entry);
  const reason = copy === undefined ? newEntryFlaw(entry) : shapeFlaw(copy);
  if (reason !== null) throw new SessionError("bad_entry", { reason });
  return copy ?? structuredClone(entry);
}

function sizeFlaw(entry: Readonly<Record<string, unknown>>): string | null {
  try {
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    return bytes <= LIMITS.entryBytesMax ? null : `${bytes} bytes are more than ${LIMITS.entryBytesMax}`;
  } catch (error) {
    return `not JSON: ${messageOf(error).split("\n", 1)[0]}`;
  }
}

function newEntryFlaw(entry: NewEntry): string | null {
  return shapeFlaw(entry) ?? sizeFlaw(entry) ?? valueFlaw(entry);
}

/** All that can be wrong with plain JSON of a moderate size. */
function shapeFlaw(entry: unknown): string | null {
  if (!isObject(entry)) return "not an object";
  if (typeof entry.type !== "string" || !/^[A-Za-z][\w.:-]{0,63}$/.test(entry.type)) return "no type";
  if (entry.type === "session") return "type session is the header's";
  const kept = ["g", "t", "returnTo"].find((name) => entry[name] !== undefined);
  if (kept !== undefined) return `${kept} is set by the store`;
  if (STORE_KINDS.has(String(entry.customType))) return `${entry.customType} is written by the store only`;
  return fieldFlaw(entry) ?? entryFlaw(entry);
}

function fieldFlaw(entry: Readonly<Record<string, unknown>>): string | null {
  const { id, parentId, timestamp, answers, seen, returnTo, call } = entry;
  if (id !== undefined && !isNewId(id))
    return "id is not 1 to 128 printable ASCII characters, or stands for a line number";
  if (parentId !== undefined && parentId !== null && !isText(parentId)) return "parentId is not an id";
  if (timestamp !== undefined && !(isText(timestamp) && Number.isFinite(Date.parse(timestamp)))) return "bad timestamp";
  if (answers !== undefined && !(Array.isArray(answers) && answers.every(isText)))
    return "answers is not a list of ids";
  if (seen !== undefined && !isText(seen)) return "seen is not an id";
  if (returnTo !== undefined && !isText(returnTo)) return "returnTo is not an id";
  if (call === undefined) return null;
  return isObject(call) && isText(call.entryId) && Number.isSafeInteger(call.ordinal) ? null : "call names no call";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isNewId(id: unknown): boolean {
  return typeof id === "string" && ID.test(id) && !DERIVED_ID.test(id);
}

/** Finds a value that JSON would drop or change silently. Not circular: `sizeFlaw` was asked before. */
function valueFlaw(root: Readonly<Record<string, unknown>>): string | null {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    const flaw = scalarFlaw(value);
    if (flaw !== null) return flaw;
    if (typeof value !== "object" || value === null) continue;
    if (!isPlain(value)) return "an object is neither plain nor a list";
    for (const member of Object.values(value)) rest.push(member);
  }
  return null;
}

function scalarFlaw(value: unknown): string | null {
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value} is not JSON`;
  return typeof value === "number" && !Number.isFinite(value) ? "a number is not finite" : null;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
