/**
 * Old results of tools made shorter in the request, when the conversation fills a good part of the window. Pure; in memory only.
 *
 * [ enough? → shorten → still too much? → clear, oldest first ]
 * Invariants: the log is never touched; the newest answers' results and the exchange in progress stay whole; every result stays
 * in its place, so pairs hold; what was cut says so.
 */
import type { ContentBlock, EntryMessage, TextBlock, ToolResultMessage } from "@holdfast/sessions";

/** `agents.*.contextPruning`. */
export interface PruningSettings {
  /** `cache-ttl` and `auto`: only when the provider's cache of the prompt has run out, since a changed prompt is paid anew. */
  readonly mode: "off" | "always" | "cache-ttl" | "auto";
  readonly ttlMs: number;
  readonly keepLastAssistants: number;
  readonly minPrunableToolChars: number;
  readonly softTrimRatio: number;
  readonly hardClearRatio: number;
  readonly softTrim: { readonly maxChars: number; readonly headChars: number; readonly tailChars: number };
  readonly hardClear: { readonly enabled: boolean; readonly placeholder: string };
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
}

export interface Pruning {
  readonly settings: PruningSettings;
  /** Tokens; null: not known, nothing is pruned. */
  readonly window: number | null;
  readonly nowMs: number;
}

export interface Pruned {
  readonly messages: readonly EntryMessage[];
  /** By the message's place in the list. */
  readonly cut: readonly { readonly at: number; readonly how: "trimmed" | "cleared" | "picture" }[];
}

/** What a token is taken for, and a picture. */
const CHARS_PER_TOKEN = 4;
const PICTURE_CHARS = 8_000;

export const OLD_PICTURE = "(a picture stood here; it is left out because it is old)";

export function prune(messages: readonly EntryMessage[], { settings, window, nowMs }: Pruning): Pruned {
  const end = endOfOld(messages, settings.keepLastAssistants);
  if (settings.mode === "off" || window === null || end === 0 || isCached(messages, settings, nowMs))
    return { messages, cut: [] };
  const room = window * CHARS_PER_TOKEN;
  const state: State = { messages: [...messages], cut: new Map(), chars: sum(messages) };
  if (state.chars < room * settings.softTrimRatio) return { messages, cut: [] };
  for (let at = 0; at < end; at++) takePictures(state, at);
  const old = messages.flatMap((message, at) => (at < end && isPrunable(message, settings) ? [at] : []));
  for (const at of old) trim(state, at, settings);
  const prunable = old.reduce((chars, at) => chars + charsOf(state.messages[at]!), 0);
  if (settings.hardClear.enabled && prunable >= settings.minPrunableToolChars)
    for (const at of old) if (state.chars >= room * settings.hardClearRatio) clear(state, at, settings);
  return { messages: state.messages, cut: [...state.cut].map(([at, how]) => ({ at, how })) };
}

interface State {
  readonly messages: EntryMessage[];
  readonly cut: Map<number, Pruned["cut"][number]["how"]>;
  chars: number;
}

/** Everything before the n-th answer from the end, and before the newest message of a person. */
function endOfOld(messages: readonly EntryMessage[], keep: number): number {
  const newest = messages.findLastIndex(({ role }) => role === "user");
  let left = keep;
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at]?.role !== "assistant") continue;
    left -= 1;
    if (left <= 0) return Math.min(at, Math.max(0, newest));
  }
  return keep === 0 ? Math.max(0, newest) : 0;
}

/** The provider may still have the prompt: it was asked less than `ttl` ago. */
function isCached(messages: readonly EntryMessage[], { mode, ttlMs }: PruningSettings, nowMs: number): boolean {
  if (mode === "always" || mode === "off") return false;
  const last = messages.findLast(({ role }) => role === "assistant")?.timestamp;
  const agoMs = typeof last === "number" ? nowMs - last : Number.POSITIVE_INFINITY;
  return agoMs >= 0 && agoMs < ttlMs;
}

function isPrunable(message: EntryMessage, { tools: { allow, deny } }: PruningSettings): message is ToolResultMessage {
  if (message.role !== "toolResult" || !Array.isArray(message.content)) return false;
  const { toolName } = message as ToolResultMessage;
  return (allow.length === 0 || allow.includes(toolName)) && !deny.includes(toolName);
}

function put(state: State, at: number, content: readonly ContentBlock[], how: Pruned["cut"][number]["how"]): void {
  const before = state.messages[at]!;
  const after = { ...before, content } as EntryMessage;
  state.chars += charsOf(after) - charsOf(before);
  state.messages[at] = after;
  state.cut.set(at, how);
}

function takePictures(state: State, at: number): void {
  const { content } = state.messages[at]!;
  if (!Array.isArray(content) || !content.some(({ type }) => type === "image")) return;
  const text = { type: "text", text: OLD_PICTURE } as const;
  put(
    state,
    at,
    content.map((block) => (block.type === "image" ? text : block)),
    "picture",
  );
}

function trim(state: State, at: number, { softTrim: { maxChars, headChars, tailChars } }: PruningSettings): void {
  const text = textOf(state.messages[at]!);
  if (text.length <= maxChars || headChars + tailChars >= text.length) return;
  const head = text.slice(0, headChars).toWellFormed();
  const tail = tailChars === 0 ? "" : text.slice(-tailChars).toWellFormed();
  const note = `[${text.length - headChars - tailChars} of ${text.length} characters of this old result are left out here]`;
  put(state, at, [{ type: "text", text: `${head}\n${note}\n${tail}` }], "trimmed");
}

function clear(state: State, at: number, { hardClear: { placeholder } }: PruningSettings): void {
  if (charsOf(state.messages[at]!) <= placeholder.length) return;
  put(state, at, [{ type: "text", text: placeholder }], "cleared");
}

function textOf({ content }: EntryMessage): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content
    .filter((block): block is TextBlock => block.type === "text")
    .map(({ text }) => text)
    .join("\n");
}

function sum(messages: readonly EntryMessage[]): number {
  return messages.reduce((chars, message) => chars + charsOf(message), 0);
}

const counted = new WeakMap<EntryMessage, number>();

/** Counted once for each message: messages of a log do not change. */
function charsOf(message: EntryMessage): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const { content } = message;
  const chars = Array.isArray(content)
    ? content.reduce((all, block) => all + charsOfBlock(block), 0)
    : typeof content === "string"
      ? content.length
      : 0;
  counted.set(message, chars);
  return chars;
}

function charsOfBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "image":
      return PICTURE_CHARS;
    case "toolCall":
      return JSON.stringify(block.arguments).length + block.name.length;
    default:
      return 0;
  }
}
