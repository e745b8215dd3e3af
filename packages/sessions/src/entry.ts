/**
 * The entry union: what one line of a transcript can be (docs/format.md; Pi session format version 3), and the only parser.
 * Invariant: unknown types and fields are carried through untouched; nothing but this file decides what a line means.
 */
import { isUtf8 } from "node:buffer";
import { isObject, type Json } from "@holdfast/base";
import { entryFlaw } from "./flaws.ts";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  readonly textSignature?: string;
}
export interface ImageBlock {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly thinkingSignature?: string;
}
export interface ToolCallBlock {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
export type ContentBlock = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock;

export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly ContentBlock[];
  readonly timestamp?: number;
  /** `<channel>:<account>:<chat>:<platform message id>`: recognises a redelivery in the log itself. */
  readonly key?: string;
  /** What the model is shown above it: when it came and from whom. */
  readonly envelope?: string;
}
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly ContentBlock[];
  readonly api?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Json;
  readonly stopReason?: StopReason;
  readonly errorMessage?: string;
  readonly timestamp?: number;
}
export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly ContentBlock[];
  readonly details?: unknown;
  readonly isError: boolean;
  readonly timestamp?: number;
}
/** Roles of other programs (`system`, `bashExecution`, `custom`, ...) are kept as they are. */
export interface OtherMessage {
  readonly role: string;
  readonly [field: string]: unknown;
}
export type EntryMessage = UserMessage | AssistantMessage | ToolResultMessage | OtherMessage;

/** What every entry has. `g` is stamped by the store; the rest is explained in docs/format.md. */
export interface EntryBase {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly g?: number;
  readonly t?: number;
  /** On an answer: ids of the user entries it answers. */
  readonly answers?: readonly string[];
  /** On an answer: the leaf its request was built from. */
  readonly seen?: string;
  /** On an entry written off the current path: the leaf to return to. */
  readonly returnTo?: string;
  /** On a tool result: which call it belongs to. */
  readonly call?: { readonly entryId: string; readonly ordinal: number };
}

export interface MessageEntry extends EntryBase {
  readonly type: "message";
  readonly message: EntryMessage;
}
export interface ModelChangeEntry extends EntryBase {
  readonly type: "model_change";
  readonly provider: string;
  readonly modelId: string;
}
export interface ThinkingLevelChangeEntry extends EntryBase {
  readonly type: "thinking_level_change";
  readonly thinkingLevel: string;
}
export interface CompactionEntry extends EntryBase {
  readonly type: "compaction";
  readonly summary: string;
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  readonly details?: unknown;
  /** What was in force here, as far as it was known: so that nobody has to read on for it. */
  readonly inForce?: { readonly provider?: string; readonly modelId?: string; readonly thinkingLevel?: string };
}
export interface BranchSummaryEntry extends EntryBase {
  readonly type: "branch_summary";
  readonly fromId: string;
  readonly summary: string;
  readonly details?: unknown;
}
/** State; never in the model's context. */
export interface CustomEntry extends EntryBase {
  readonly type: "custom";
  readonly customType: string;
  readonly data?: unknown;
}
/** In the model's context; `display` decides whether people see it. */
export interface CustomMessageEntry extends EntryBase {
  readonly type: "custom_message";
  readonly customType: string;
  readonly content: string | readonly ContentBlock[];
  readonly display: boolean;
  readonly details?: unknown;
}
export interface LabelEntry extends EntryBase {
  readonly type: "label";
  readonly targetId: string;
  readonly label?: string;
}
export interface SessionInfoEntry extends EntryBase {
  readonly type: "session_info";
  readonly name?: string;
}
/** `usage`, `context_edit` and whatever other programs write: carried through. */
export interface OtherEntry extends EntryBase {
  readonly type: "usage" | "context_edit" | (string & {});
  readonly [field: string]: unknown;
}
export type KnownEntry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry;
export type Entry = KnownEntry | OtherEntry;

/** What a caller gives to `append`: id, parent and time are filled in where missing; `g` and `t` never come from a caller. */
export type NewEntry = {
  readonly type: string;
  readonly id?: string;
  readonly parentId?: string | null;
  readonly timestamp?: string;
  readonly [field: string]: unknown;
};

export interface Header {
  readonly type: "session";
  readonly version: number;
  readonly id: string;
  readonly timestamp: string;
  readonly cwd?: string;
  readonly parentSession?: string;
  readonly [field: string]: unknown;
}

/**
 * What one line means. `flaw` says what is odd about the text of a line that is used nevertheless; what its fields lack
 * is told by `entryFlaw`. `anonymous` is an entry without an id: its id comes from its line number (`identify`), so only
 * a reader that counts lines can use it.
 */
export type ParsedLine =
  | { readonly kind: "blank" }
  | { readonly kind: "damaged"; readonly why: string }
  | { readonly kind: "header"; readonly header: Header; readonly flaw: string | null }
  | { readonly kind: "anonymous"; readonly fields: Readonly<Record<string, unknown>>; readonly flaw: string | null }
  | { readonly kind: "entry"; readonly entry: Entry; readonly flaw: string | null };

const BOM = "\uFEFF";
const REPLACEMENT = "\uFFFD";

/** Reads one line (with or without its line end). Never throws: what cannot be read is `damaged`. */
export function parseLine(line: Uint8Array | string): ParsedLine {
  return typeof line === "string" ? parseText(line) : parseText(decode(line), () => line);
}

/** The same of a line that is decoded already. `bytes` is asked only where the text may not be what was written. */
export function parseText(whole: string, bytes?: () => Uint8Array | null): ParsedLine {
  // Nearly every line is one object with nothing around it: there is nothing to take off or to look for.
  const isBare = whole.startsWith("{") && whole.endsWith("}");
  const text = isBare ? whole : trimmed(whole);
  if (!isBare && text.trim() === "") {
    return whole.includes("\0") ? { kind: "damaged", why: "NUL bytes" } : { kind: "blank" };
  }
  const value = parseJson(text);
  if (value.kind === "damaged") return value;
  if (!isObject(value.value)) return { kind: "damaged", why: "not an object" };
  const flaw = (isBare ? null : flawAround(whole)) ?? (isDecoded(whole, bytes) ? null : "invalid UTF-8");
  return shapeOf(value.value, flaw);
}

/** Bytes that are no UTF-8 were decoded to a character that may as well have been written. */
function isDecoded(text: string, bytes: (() => Uint8Array | null) | undefined): boolean {
  return bytes === undefined || !text.includes(REPLACEMENT) || isUtf8(bytes() ?? new Uint8Array());
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Without JSON's white space, BOM and NUL runs at both ends: a run of NULs before a line is what power loss leaves. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && AROUND.has(text.charCodeAt(from))) from += 1;
  while (to > from && text[to - 1] !== BOM && AROUND.has(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Looked at one by one: a pattern for a run at the end would try every run in between, each from each of its characters. */
const AROUND: ReadonlySet<number> = new Set([..." \t\r\n\0\uFEFF"].map((character) => character.charCodeAt(0)));

function parseJson(text: string): { kind: "value"; value: unknown } | { kind: "damaged"; why: string } {
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch {
    // The parser's own message quotes the text, which may be private.
    return { kind: "damaged", why: "not JSON" };
  }
}

/** What stands around an object and is no white space; inside of it JSON allows none of these. */
function flawAround(text: string): string | null {
  if (text.includes("\0")) return "NUL bytes around the entry";
  return text.slice(0, text.indexOf("{")).includes(BOM) ? "byte order mark" : null;
}

function shapeOf(fields: Record<string, unknown>, flaw: string | null): ParsedLine {
  if (typeof fields.type !== "string" || fields.type === "") return { kind: "damaged", why: "no type" };
  if (fields.type === "session") return { kind: "header", header: fields as unknown as Header, flaw };
  if (typeof fields.id !== "string" || fields.id === "") return { kind: "anonymous", fields, flaw };
  return { kind: "entry", entry: fields as unknown as Entry, flaw };
}

/** Gives an entry the id and parent that its place in the file stands for. The other fields are kept. */
export function identify(fields: Readonly<Record<string, unknown>>, id: string, parentId: string | null): Entry {
  return { ...fields, id, parentId } as unknown as Entry;
}

/** The id of an entry that has none: `line` is its number in the file, from 1. */
export function derivedId(line: number): string {
  return `line-${line}`;
}

/**
 * The line of an entry, without its line end. The small fields come first, so that a reader passing over the line need
 * not look at the rest. Lone surrogates become escapes: the line is always valid UTF-8.
 */
export function encodeEntry(entry: Entry): string {
  const fields = fieldsOf(entry);
  const ordered: Record<string, unknown> = {};
  for (const name of SMALL_FIELDS) if (fields[name] !== undefined) ordered[name] = fields[name];
  return JSON.stringify({ ...ordered, ...fields });
}

const SMALL_FIELDS = ["type", "id", "parentId", "timestamp", "g", "t", "answers", "seen", "returnTo", "call"] as const;

/** The first line of a transcript, without its line end. */
export function encodeHeader(header: Header): string {
  const { type, version, id, timestamp, ...rest } = header;
  return JSON.stringify({ type, version, id, timestamp, ...rest });
}

/** The fields of anything read, whatever its type says it has. */
export function fieldsOf(entry: Entry | EntryMessage | Header): Readonly<Record<string, unknown>> {
  return entry as unknown as Readonly<Record<string, unknown>>;
}

/** Guards: the type and the fields that its readers need. A line that lies about its type is carried, not used. */
export function isMessage(entry: Entry): entry is MessageEntry {
  return entry.type === "message" && entryFlaw(fieldsOf(entry)) === null;
}
export function isCompaction(entry: Entry): entry is CompactionEntry {
  return entry.type === "compaction";
}
/** The system prompt that some writers store with a compaction. */
export function systemMessageOf(entry: CompactionEntry): EntryMessage | null {
  const { systemMessage } = fieldsOf(entry);
  return isObject(systemMessage) ? (systemMessage as unknown as EntryMessage) : null;
}
export function isCustom(entry: Entry, customType?: string): entry is CustomEntry {
  return entry.type === "custom" && (customType === undefined || fieldsOf(entry).customType === customType);
}
export function isCustomMessage(entry: Entry): entry is CustomMessageEntry {
  return entry.type === "custom_message" && entryFlaw(fieldsOf(entry)) === null;
}
export function isBranchSummary(entry: Entry): entry is BranchSummaryEntry {
  return entry.type === "branch_summary" && typeof fieldsOf(entry).summary === "string";
}
export function isModelChange(entry: Entry): entry is ModelChangeEntry {
  return entry.type === "model_change";
}
export function isThinkingLevelChange(entry: Entry): entry is ThinkingLevelChangeEntry {
  return entry.type === "thinking_level_change" && typeof fieldsOf(entry).thinkingLevel === "string";
}
export function isAssistant(message: EntryMessage): message is AssistantMessage {
  return message.role === "assistant";
}
export function isToolResult(message: EntryMessage): message is ToolResultMessage {
  return message.role === "toolResult";
}
/** The calls of a message in order; none unless an assistant made it. A call's ordinal is its place in this list. */
export function toolCallsOf(message: EntryMessage): readonly ToolCallBlock[] {
  if (!isAssistant(message) || !Array.isArray(message.content)) return [];
  return message.content.filter((block): block is ToolCallBlock => block.type === "toolCall");
}
