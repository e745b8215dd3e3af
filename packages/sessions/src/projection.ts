/**
 * From a path to what the model sees. Pure.
 *
 * Invariant: for a well-formed file the messages equal what Pi 1.6.0 builds from it, value for value. For a damaged one
 * they hold more, never less: a compaction that names a kept entry off the path keeps everything since the one before.
 */
import { isObject } from "@holdfast/base";
import {
  type CompactionEntry,
  type Entry,
  type EntryMessage,
  fieldsOf,
  isAssistant,
  isBranchSummary,
  isCompaction,
  isCustomMessage,
  isMessage,
  isModelChange,
  isThinkingLevelChange,
  systemMessageOf,
} from "./entry.ts";
import { type Limits, limitMessages, type Sourced } from "./limit.ts";
import type { Context, ContextReport } from "./types.ts";

/** Where on the path the context begins: the newest compaction, and the first entry kept before it. */
export interface ContextStart {
  /** Index of the newest compaction, or -1. */
  readonly compaction: number;
  /** Index of the first entry that counts; the compaction's own when nothing before it is kept. */
  readonly from: number;
  /** Whether `from` is what the file says; false: the kept entry is not on this path. */
  readonly found: boolean;
}

/** What `contextStart` needs to know of an entry. */
export interface Step {
  readonly id: string;
  readonly type: string;
  readonly firstKeptEntryId?: unknown;
}

export function contextStart(path: readonly Step[]): ContextStart {
  const compaction = path.findLastIndex((one) => one.type === "compaction");
  const entry = path[compaction];
  if (entry === undefined) return { compaction: -1, from: 0, found: true };
  if (entry.firstKeptEntryId === entry.id) return { compaction, from: compaction, found: true };
  // Of two entries with one id the nearer is meant, as everywhere; so it does not matter from which end one comes.
  const kept = path.findLastIndex((one, index) => index < compaction && one.id === entry.firstKeptEntryId);
  if (kept !== -1) return { compaction, from: kept, found: true };
  const before = path.findLastIndex((one, index) => index < compaction && one.type === "compaction");
  return { compaction, from: before + 1, found: false };
}

/** Settings in force at some point; null: not set as far as was read. */
export interface Settings {
  readonly model: Context["model"];
  readonly thinkingLevel: string | null;
}

export interface ProjectOptions extends Limits {
  /** Whether the path begins at its root. */
  readonly whole: boolean;
  /** What was in force before the path's first entry; left out or null: unknown. */
  readonly earlier?: Settings | null;
}

/**
 * The context of a path: oldest first, from the root or from any entry that is not after the context's start. Settings
 * that were made before it and are not given come out as null.
 */
export function project(path: readonly Entry[], options: ProjectOptions): Context {
  const start = contextStart(path);
  const edits = editsOf(path, start);
  const contributions = path.map((entry, index) => contributionOf(entry, index, start, edits));
  const ordered = inContextOrder(contributions, start);
  const sourced: Sourced[] = [];
  for (const { id, messages, free } of ordered) for (const message of messages) sourced.push({ id, message, free });
  const limited = limitMessages(sourced, options);
  const leftOut = contributions.flatMap(({ id, why }) => (why === null ? [] : [{ id, why }]));
  return {
    messages: limited.kept.map((one) => one.message),
    entryIds: limited.kept.map((one) => one.id),
    ...settingsOf(path, options),
    report: {
      leaf: path.at(-1)?.id ?? null,
      included: [...new Set(limited.kept.map((one) => one.id))],
      leftOut: [...leftOut, ...limited.leftOut],
      compaction: path[start.compaction]?.id ?? null,
      messages: limited.kept.length,
      get approximateTokens() {
        return limited.approximateTokens;
      },
      notes: notesOf(path, start),
    },
  };
}

interface Contribution {
  readonly id: string;
  readonly messages: readonly EntryMessage[];
  /** Summaries and system prompts do not count against limits. */
  readonly free: boolean;
  readonly why: string | null;
}

/** The newest edit of each entry, by its id. Edits outside of the context do not count. */
function editsOf(path: readonly Entry[], start: ContextStart): ReadonlyMap<string, unknown> {
  const edits = new Map<string, unknown>();
  for (const [index, entry] of path.entries()) {
    if (entry.type !== "context_edit" || index < start.from) continue;
    const { targetId, replacement } = fieldsOf(entry);
    if (typeof targetId === "string") edits.set(targetId, replacement);
  }
  return edits;
}

function contributionOf(
  entry: Entry,
  index: number,
  start: ContextStart,
  edits: ReadonlyMap<string, unknown>,
): Contribution {
  if (index < start.from) return nothing(entry, "compacted");
  const isOld = index < start.compaction;
  if (isCompaction(entry) && index !== start.compaction) return nothing(entry, "older_compaction");
  if (isOld && isMessage(entry) && entry.message.role === "system") return nothing(entry, "compacted");
  const messages = messagesOf(entry);
  if (messages.length === 0) return nothing(entry, "not_for_the_model");
  const edited = edits.has(entry.id) ? applyEdit(messages, edits.get(entry.id)) : messages;
  if (edited.length === 0) return nothing(entry, "edited_away");
  const free = isCompaction(entry) || edited.every((message) => message.role === "system");
  return { id: entry.id, messages: edited, free, why: null };
}

function nothing({ id }: Entry, why: string): Contribution {
  return { id, messages: [], free: false, why };
}

/** The newest compaction comes first, whatever is kept before it. */
function inContextOrder(contributions: readonly Contribution[], start: ContextStart): readonly Contribution[] {
  const summary = contributions[start.compaction];
  if (summary === undefined) return contributions;
  return [summary, ...contributions.filter((one) => one !== summary)];
}

/** What one entry contributes, before edits. */
function messagesOf(entry: Entry): readonly EntryMessage[] {
  if (isMessage(entry)) return [withContent(entry.message)];
  if (isCustomMessage(entry)) {
    const { customType, content, display, details } = entry;
    return [{ role: "custom", customType, content: content ?? [], display, details, timestamp: timeOf(entry) }];
  }
  if (isBranchSummary(entry)) {
    if (entry.summary === "") return [];
    return [{ role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp: timeOf(entry) }];
  }
  return isCompaction(entry) ? summaryOf(entry) : [];
}

function summaryOf(entry: CompactionEntry): readonly EntryMessage[] {
  const { summary, tokensBefore } = entry;
  const message: EntryMessage = { role: "compactionSummary", summary, tokensBefore, timestamp: timeOf(entry) };
  const system = systemMessageOf(entry);
  return system === null ? [message] : [system, message];
}

function timeOf(entry: Entry): number {
  return new Date(entry.timestamp).getTime();
}

/** Old and hand-edited files hold messages without content; providers need the field. */
function withContent(message: EntryMessage): EntryMessage {
  if (message.content !== undefined && message.content !== null) return message;
  if (message.role === "system") return { ...message, content: "" };
  return ["user", "assistant", "toolResult"].includes(message.role) ? { ...message, content: [] } : message;
}

const EDITABLE = ["user", "assistant", "toolResult", "custom"];

function applyEdit(messages: readonly EntryMessage[], replacement: unknown): readonly EntryMessage[] {
  if (replacement === null) return [];
  if (!isObject(replacement)) return messages;
  const { content } = replacement;
  return messages.map((message) => {
    if (!EDITABLE.includes(message.role)) return message;
    const asBlocks = typeof content === "string" && (message.role === "assistant" || message.role === "toolResult");
    return { ...message, content: asBlocks ? [{ type: "text", text: content }] : content };
  });
}

/** Model and thinking level as this path sets them. A compaction does not take them back, and may say what they were. */
export function settingsIn(path: readonly Entry[]): Settings {
  const by = path.findLast(setsModel);
  const level = path.findLast(setsLevel);
  return { model: by === undefined ? null : modelOf(by), thinkingLevel: level === undefined ? null : levelOf(level) };
}

function setsModel(entry: Entry): boolean {
  if (isCompaction(entry)) return typeof inForceIn(entry).modelId === "string";
  return isModelChange(entry) || (isMessage(entry) && isAssistant(entry.message));
}

function setsLevel(entry: Entry): boolean {
  if (isCompaction(entry)) return typeof inForceIn(entry).thinkingLevel === "string";
  return isThinkingLevelChange(entry);
}

function inForceIn(entry: Entry): Readonly<Record<string, unknown>> {
  const { inForce } = fieldsOf(entry);
  return isObject(inForce) ? inForce : {};
}

/** Of an entry that sets it. */
function levelOf(entry: Entry): string {
  const { thinkingLevel } = isCompaction(entry) ? inForceIn(entry) : fieldsOf(entry);
  return thinkingLevel as string;
}

function settingsOf(path: readonly Entry[], options: ProjectOptions): Settings {
  const here = settingsIn(path);
  const earlier = options.earlier ?? { model: null, thinkingLevel: null };
  const otherwise = options.whole || options.earlier ? "off" : null;
  return {
    model: here.model ?? earlier.model,
    thinkingLevel: here.thinkingLevel ?? earlier.thinkingLevel ?? otherwise,
  };
}

function modelOf(entry: Entry): Context["model"] {
  const fields: Readonly<Record<string, unknown>> = isCompaction(entry)
    ? inForceIn(entry)
    : fieldsOf(isMessage(entry) ? entry.message : entry);
  const modelId = isMessage(entry) ? fields.model : fields.modelId;
  // Pi hands on what the file says, absent fields included.
  return { provider: fields.provider as string, modelId: modelId as string };
}

function notesOf(path: readonly Entry[], start: ContextStart): ContextReport["notes"] {
  if (start.found) return [];
  const entry = path[start.compaction];
  return [
    `compaction ${entry?.id} names a kept entry that is not on this path; everything since the one before is kept`,
  ];
}
