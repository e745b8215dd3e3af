/**
 * Looking for a text in one transcript: on all branches, whatever became of them. Reads the file once, line by line.
 * Invariants: a match is exact but for upper and lower case (and for how an accented letter is composed); what is kept of
 * a file is bounded by `limit`, however often the text is in it.
 */
import { isObject } from "@holdfast/base";
import { type Entry, fieldsOf, isCustom, isMessage } from "./entry.ts";
import { openSource } from "./reading/source.ts";
import { readWhole } from "./reading/whole.ts";

export interface SearchHit {
  readonly id: string;
  /** As written (ISO 8601); empty where there is none. */
  readonly timestamp: string;
  /** Of a message; else the type of the entry. */
  readonly role: string;
  /** Whether the conversation stands on this branch. */
  readonly current: boolean;
  /** What is around the first match, on one line. */
  readonly excerpt: string;
}

export interface SearchResult {
  /** The newest `limit`, the newest first. */
  readonly hits: readonly SearchHit[];
  /** How many entries match in all. */
  readonly matches: number;
  /** What the transcript says of itself; null where it does not. */
  readonly key: string | null;
}

export interface SearchOptions {
  readonly limit: number;
  /** Told how many bytes were read, now and then. */
  readonly onProgress?: (bytes: number) => void;
}

const BEFORE_CHARACTERS = 40;
const AFTER_CHARACTERS = 100;

/** Text of messages, arguments and results of tools, summaries, labels, names. Throws what opening a transcript throws. */
export async function searchTranscript(path: string, text: string, options: SearchOptions): Promise<SearchResult> {
  const { limit, onProgress = () => {} } = options;
  await using source = await openSource(path);
  const watched = {
    size: source.size,
    read: (offset: number, length: number): Promise<Buffer> => {
      onProgress(offset);
      return source.read(offset, length);
    },
  };
  const pattern = new RegExp(literally(text.normalize("NFC")), "iu");
  const found: Omit<SearchHit, "current">[] = [];
  const seen: { matches: number; key: string | null } = { matches: 0, key: null };
  const { tree, leaf } = await readWhole(watched, (entry) => {
    seen.key ??= keyOf(entry);
    const words = wordsOf(entry).normalize("NFC");
    const at = pattern.exec(words);
    if (at === null) return;
    seen.matches += 1;
    const { id, timestamp } = entry;
    found.push({ id, timestamp: timestamp ?? "", role: roleOf(entry), excerpt: around(words, at) });
    if (found.length > limit) found.shift();
  });
  const current = new Set(tree.pathTo(leaf).map((ref) => ref.id));
  const hits = found.reverse().map((hit) => ({ ...hit, current: current.has(hit.id) }));
  return { hits, ...seen };
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function keyOf(entry: Entry): string | null {
  if (!isCustom(entry, "holdfast:session")) return null;
  const { data } = fieldsOf(entry);
  return isObject(data) && typeof data.key === "string" ? data.key : null;
}

function roleOf(entry: Entry): string {
  const role = isMessage(entry) ? fieldsOf(entry.message).role : undefined;
  return typeof role === "string" ? role : entry.type;
}

/** Everything an entry says, whole. */
function wordsOf(entry: Entry): string {
  const { content, summary, label, name } = fieldsOf(entry);
  const fields = isMessage(entry) ? fieldsOf(entry.message) : {};
  return [fields.content, fields.command, fields.output, content, summary, label, name].map(textOf).join(" ").trim();
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(blockText).join(" ") : "";
}

function blockText(block: unknown): string {
  if (!isObject(block)) return "";
  if (block.type === "toolCall") return `[${String(block.name)}] ${JSON.stringify(block.arguments ?? {})}`;
  return typeof block.text === "string" ? block.text : "";
}

function around(words: string, { index, 0: match }: RegExpExecArray): string {
  const from = Math.max(0, index - BEFORE_CHARACTERS);
  const to = Math.min(words.length, index + Math.min(match.length, AFTER_CHARACTERS) + AFTER_CHARACTERS);
  const piece = words
    .slice(from, to)
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    // A surrogate pair that the cut went through.
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${from > 0 ? "…" : ""}${piece}${to < words.length ? "…" : ""}`;
}
