/**
 * One message as the JSON export and the older, flat layout have it, and as an entry. Pure.
 *
 * Invariant: an entry that came from a flat file goes back as it stood there, field for field; an entry of ours that goes
 * out and comes back is the same entry, since what the layout cannot say travels in `metadata.holdfast`.
 */
import { isObject } from "@holdfast/base";
import {
  type ContentBlock,
  type Entry,
  fieldsOf,
  identify,
  isBranchSummary,
  isCompaction,
  isCustomMessage,
  isMessage,
  isToolResult,
} from "../entry.ts";

/** A line of the flat layout, or a member of `messages` in the JSON export. `timestamp` is in seconds. */
export interface StoredMessage {
  readonly id: string;
  readonly parentId: string | null;
  readonly role: string;
  readonly content: string;
  readonly timestamp: number;
  readonly channel?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** As other programs wrote it, which may lack a time or hold more. */
export type FlatLine = Pick<StoredMessage, "id" | "parentId" | "role"> & Fields;

/** What our own exports add to `metadata`. */
interface Carried {
  readonly type: string;
  readonly role?: string;
  /** How `content` stood: as text, as the blocks beside it, as one text block, or not at all. */
  readonly content: "text" | "blocks" | "block" | "none";
  readonly message?: Fields;
  readonly fields?: Fields;
  readonly metadata?: unknown;
  /** Where the layout needs another id or parent. */
  readonly id?: string;
  readonly parentId?: string | null;
}

const SUMMARY_MARKS = ["[会话摘要]", "[Conversation summary]"];
const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Whether an entry is one of the messages that these layouts hold. */
export function isStorable(entry: Entry): boolean {
  return isMessage(entry) || isCustomMessage(entry) || isBranchSummary(entry) || isCompaction(entry);
}

/** How the layout calls a message, and what kind it says that it is. */
function roleOf(entry: Entry, isFlat: boolean): { role: string; type: string | undefined } {
  if (isCompaction(entry)) return { role: "system", type: "compaction" };
  if (!isMessage(entry)) return { role: "system", type: entry.type };
  if (!isToolResult(entry.message)) return { role: entry.message.role, type: undefined };
  return { role: isFlat ? "assistant" : "toolResult", type: "tool_result" };
}

/** An entry for the JSON export. */
export function toStored(entry: Entry, parentId: string | null): StoredMessage {
  const timestampMs = timeOf(entry);
  const { role, type } = roleOf(entry, false);
  const { channel, metadata } = fieldsOf(entry);
  const blocks = blocksOf(entry);
  return {
    id: entry.id,
    parentId,
    role,
    content: textOf(entry),
    timestamp: timestampMs / 1000,
    channel: channel ?? null,
    metadata: {
      ...(isObject(metadata) ? metadata : {}),
      ...(type === undefined ? {} : { type }),
      ...(blocks === undefined ? {} : { blocks }),
      timestampMs,
      holdfast: carriedOf(entry),
    },
  };
}

export interface FlatPlace {
  readonly id: string;
  readonly parentId: string | null;
  /** For a summary: how many messages it stands for. */
  readonly originalCount?: number;
  readonly channel?: string | undefined;
}

/** An entry for the flat layout. One that came from there goes back as it was. */
export function toFlat(entry: Entry, place: FlatPlace): FlatLine {
  const { flat, channel, metadata } = fieldsOf(entry);
  if (isObject(flat)) return { ...flatOf(entry, place, flat), ...given({ channel, metadata }) };
  const { role, type } = roleOf(entry, true);
  const blocks = blocksOf(entry);
  const isPlain = type === undefined && metadata === undefined && blocks === undefined;
  const { id, parentId, originalCount } = place;
  const more = {
    ...(isObject(metadata) ? metadata : {}),
    ...given({ type, originalCount, blocks }),
    holdfast: { ...carriedOf(entry), ...(isCompaction(entry) ? { id: entry.id, parentId: entry.parentId } : {}) },
  };
  const content = isCompaction(entry) ? marked(entry.summary) : textOf(entry);
  const base = { id, parentId, role, content, timestamp: timeOf(entry) / 1000 };
  const from = given({ channel: channel ?? place.channel });
  return { ...base, ...from, ...(isPlain && isBare(entry) ? {} : { metadata: more }) };
}

function flatOf(entry: Entry, place: FlatPlace, flat: Fields): FlatLine {
  const { content, timestamp, ...unknown } = flat;
  const { role } = roleOf(entry, true);
  const { id, parentId } = place;
  return { id, parentId, role, content: content ?? textOf(entry), ...given({ timestamp }), ...unknown };
}

/** A message that says nothing the flat layout cannot: no need to carry more. */
function isBare(entry: Entry): boolean {
  const { message, type, id, parentId, timestamp, g, t, channel, ...rest } = fieldsOf(entry);
  const { role, content, timestamp: sent, ...more } = isObject(message) ? message : {};
  return (
    Object.keys(rest).length === 0 && Object.keys(more).length === 0 && sent === timeOf(entry) && Array.isArray(content)
  );
}

function marked(summary: string): string {
  if (SUMMARY_MARKS.some((mark) => summary.startsWith(mark))) return summary;
  return `${CJK.test(summary) ? SUMMARY_MARKS[0] : SUMMARY_MARKS[1]} ${summary}`;
}

function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const ENTRY_FIELDS = ["type", "id", "parentId", "timestamp", "g", "t", "message", "content", "channel", "metadata"];

function carriedOf(entry: Entry): Carried {
  const all = fieldsOf(entry);
  const rest = Object.entries(all).filter(([name]) => !ENTRY_FIELDS.includes(name) || name === "channel");
  const { role, content, ...message } = isMessage(entry)
    ? fieldsOf(entry.message)
    : { role: undefined, content: all.content };
  return {
    type: entry.type,
    ...(typeof role === "string" ? { role } : {}),
    content:
      content === undefined ? "none" : typeof content === "string" ? "text" : isOneText(content) ? "block" : "blocks",
    ...(isMessage(entry) ? { message } : {}),
    fields: Object.fromEntries(rest),
    ...(all.metadata === undefined ? {} : { metadata: all.metadata }),
  };
}

function isOneText(content: unknown): boolean {
  if (!Array.isArray(content) || content.length !== 1 || !isObject(content[0])) return false;
  const { type, text, ...rest } = content[0];
  return type === "text" && typeof text === "string" && Object.keys(rest).length === 0;
}

function contentOf(entry: Entry): unknown {
  return isMessage(entry) ? fieldsOf(entry.message).content : fieldsOf(entry).content;
}

function blocksOf(entry: Entry): unknown {
  const content = contentOf(entry);
  return Array.isArray(content) && !isOneText(content) ? content : undefined;
}

/** The text of an entry: of its text blocks, its summary, or the command that was run. */
export function textOf(entry: Entry): string {
  const { summary, message } = fieldsOf(entry);
  const content = contentOf(entry);
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    const texts = content.filter((block: ContentBlock) => block.type === "text" && typeof block.text === "string");
    return texts.map((block: ContentBlock) => (block.type === "text" ? block.text : "")).join("\n");
  }
  if (typeof summary === "string") return summary;
  const { command, output } = isObject(message) ? message : {};
  return typeof command === "string" ? `$ ${command}${typeof output === "string" ? `\n${output}` : ""}` : "";
}

/** When an entry was made: the message's own time where it has one. */
export function timeOf(entry: Entry): number {
  const own = isMessage(entry) ? fieldsOf(entry.message).timestamp : undefined;
  const written = Date.parse(entry.timestamp);
  if (Number.isFinite(written)) return written;
  return typeof own === "number" ? own : 0;
}

/** What a line of the flat layout says about itself, before its place in the tree is known. */
export interface StoredHead {
  readonly id: string | undefined;
  readonly parentId: string | null | undefined;
  readonly type: string;
  /** A summary in the form of the flat layout: a root that stands for messages. */
  readonly summaryOf: number | undefined;
  /** The id that a summary had before it was exported under another. */
  readonly original:
    | { readonly id: string; readonly parentId: string | null; readonly kept: string | undefined }
    | undefined;
}

/** Reads the head of one message; undefined when it is none. */
export function headOf(stored: unknown): StoredHead | undefined {
  if (!isObject(stored) || typeof stored.role !== "string") return undefined;
  const { id, parentId } = stored;
  const metadata = isObject(stored.metadata) ? stored.metadata : {};
  const carried = isObject(metadata.holdfast) ? metadata.holdfast : undefined;
  const isSummary = stored.role === "system" && metadata.type === "compaction";
  const count = typeof metadata.originalCount === "number" ? metadata.originalCount : undefined;
  const original = originalOf(carried);
  return {
    id: typeof id === "string" && id !== "" ? id : typeof id === "number" ? String(id) : undefined,
    parentId: parentId === null || typeof parentId === "string" ? parentId : parentId === undefined ? undefined : "",
    type: isSummary ? "compaction" : stored.role === "system" ? "custom_message" : "message",
    summaryOf:
      isSummary && (carried === undefined || original !== undefined) ? (count ?? Number.POSITIVE_INFINITY) : undefined,
    original,
  };
}

function originalOf(carried: Fields | undefined): StoredHead["original"] {
  if (typeof carried?.id !== "string") return undefined;
  const kept = isObject(carried.fields) ? carried.fields.firstKeptEntryId : undefined;
  const parentId = typeof carried.parentId === "string" ? carried.parentId : null;
  return { id: carried.id, parentId, kept: typeof kept === "string" ? kept : undefined };
}

export interface StoredPlace {
  readonly id: string;
  readonly parentId: string | null;
  /** Used where the message says no time. */
  readonly timestamp: string;
  /** For a summary in the form of the flat layout. */
  readonly firstKeptEntryId?: string | undefined;
  /** Set for such a summary that no message names as its parent. */
  readonly standsAlone?: boolean | undefined;
  readonly from: "flat" | "json";
}

/** The entry of a message whose head was read. */
export function fromStored(stored: Fields, place: StoredPlace): Entry {
  const metadata = isObject(stored.metadata) ? stored.metadata : undefined;
  const timestamp = isoOf(stored.timestamp, metadata?.timestampMs) ?? place.timestamp;
  const fields = isObject(metadata?.holdfast)
    ? restored(stored, metadata, metadata.holdfast as unknown as Carried)
    : foreign(stored, metadata, place);
  const kept = place.firstKeptEntryId === undefined ? {} : { firstKeptEntryId: place.firstKeptEntryId };
  return identify({ ...fields, timestamp, ...kept }, place.id, place.parentId);
}

function isoOf(seconds: unknown, exactMs: unknown): string | undefined {
  const given = typeof exactMs === "number" ? exactMs : typeof seconds === "number" ? Math.round(seconds * 1000) : NaN;
  const ms = Number.isNaN(given) && typeof seconds === "string" ? Date.parse(seconds) : given;
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** When a message was sent, in milliseconds since 1970, or null where it does not say. */
export function timeOfStored(stored: Fields): number | null {
  const exactMs = isObject(stored.metadata) ? stored.metadata.timestampMs : undefined;
  const iso = isoOf(stored.timestamp, exactMs);
  return iso === undefined ? null : Date.parse(iso);
}

function restored(stored: Fields, metadata: Fields, carried: Carried): Fields {
  const { type, content: form } = carried;
  const text = typeof stored.content === "string" ? stored.content : "";
  const forms = { text, blocks: metadata.blocks, block: [{ type: "text", text }], none: undefined };
  const content = given({ content: forms[form] });
  const shared = {
    type,
    ...(isObject(carried.fields) ? carried.fields : {}),
    ...given({ metadata: carried.metadata }),
  };
  if (type !== "message") return { ...shared, ...content };
  return { ...shared, message: { role: carried.role ?? stored.role, ...content, ...carried.message } };
}

const KNOWN = ["id", "parentId", "role", "content", "timestamp", "channel", "metadata"];

function foreign(stored: Fields, metadata: Fields | undefined, place: StoredPlace): Fields {
  const { role, content, timestamp, channel } = stored;
  const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
  const unknown = Object.fromEntries(Object.entries(stored).filter(([name]) => !KNOWN.includes(name)));
  const extra = given({ channel, metadata: stored.metadata });
  const flat = { ...unknown, ...given({ timestamp }), ...(typeof content === "string" ? {} : given({ content })) };
  const shared = { ...extra, ...(place.from === "flat" ? { flat } : {}) };
  if (role === "system" && metadata?.type === "compaction") {
    const { originalCount } = metadata;
    return {
      type: "compaction",
      summary: text,
      tokensBefore: 0,
      details: { strategy: "summary", originalCount, ...(place.standsAlone === true ? { standsAlone: true } : {}) },
      ...shared,
    };
  }
  if (role === "system")
    return { type: "custom_message", customType: "system", content: text, display: true, ...shared };
  const blocks = Array.isArray(metadata?.blocks) && metadata.blocks.every(isObject) ? metadata.blocks : undefined;
  const body = { content: blocks ?? [{ type: "text", text }], ...messageTime(timestamp) };
  return { type: "message", message: messageOf(String(role), body, metadata), ...shared };
}

function messageTime(seconds: unknown): Fields {
  const iso = isoOf(seconds, undefined);
  return iso === undefined ? {} : { timestamp: Date.parse(iso) };
}

/** A tool's result has the role of an assistant there; it can only be one again where its call is named. */
function messageOf(role: string, body: Fields, metadata: Fields | undefined): Fields {
  const { type, toolCallId, toolName, isError } = metadata ?? {};
  if (role !== "assistant" || type !== "tool_result" || typeof toolCallId !== "string") return { role, ...body };
  return {
    role: "toolResult",
    toolCallId,
    toolName: String(toolName ?? "unknown"),
    isError: isError === true,
    ...body,
  };
}
