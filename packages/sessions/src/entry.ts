/**
 * The entry union: what one line of a transcript can be (docs/format.md; Pi session format version 3), and the only parser.
 * Invariant: unknown types and fields are carried through untouched; nothing but this file decides what a line means.
 */
import type { Json } from "@holdfast/base";

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
