/**
 * The files that the measurements read: made from a seed, the same on every machine, kept in the system's temporary
 * directory. Transcripts have the shape of `performance`: about 1.3 KB a line, a compaction every 400 messages that
 * keeps 40, so that the live context is 241 messages however long the file is.
 */
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";

/** Part of the folder's name: another number makes everything anew. */
const DATA_VERSION = 2;
const EVERY = 400;
const KEPT = 40;
const AFTER = 200;
const ROW_BYTES = 250;
const STARTED_MS = Date.UTC(2026, 0, 1);

/** A transcript, and where the entries of its context begin: what a reader with an index would know. */
export interface TranscriptData {
  readonly path: string;
  readonly entries: number;
  readonly bytes: number;
  readonly tailOffset: number;
  /** Messages of the model's context, the summary included. */
  readonly live: number;
  readonly firstId: string;
}

export function dataDirectory(): string {
  const directory = join(tmpdir(), `holdfast-bench-sessions-${DATA_VERSION}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** A small generator of its own (mulberry32): what Node ships cannot be seeded. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WORDS =
  "the file was read and its second line says that a meeting of the team moves to nine because three people travel; " +
  "write the list again, keep what is open, split the longest item into steps that fit one hour, and say what is missing 会议 待办 第二项";

function words(random: () => number, characters: number): string {
  const list = WORDS.split(" ");
  let text = "";
  while (text.length < characters) text += `${list[Math.floor(random() * list.length)]} `;
  return text.slice(0, characters);
}

/** Eight hex digits, all different: multiplying by an odd number is a permutation of 32 bits. */
function idOf(index: number): string {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
}

/** The message at a place of the endless round: user, answer with a call, result, answer. */
function messageAt(index: number, random: () => number, timestamp: number): object {
  const answer = { role: "assistant", api: "openai-completions", provider: "bench", model: "bench-1", usage: USAGE };
  const text = (characters: number) => ({ type: "text", text: words(random, characters) });
  const turn = Math.floor(index / 4);
  switch (index % 4) {
    case 0:
      return { role: "user", content: [text(200)], timestamp };
    case 1: {
      const call = { type: "toolCall", id: `call_${turn}`, name: "read", arguments: { path: `notes/${turn}.md` } };
      return { ...answer, content: [text(800), call], stopReason: "toolUse", timestamp };
    }
    case 2:
      return {
        role: "toolResult",
        toolCallId: `call_${turn}`,
        toolName: "read",
        content: [text(2048)],
        isError: false,
        timestamp,
      };
    default:
      return { ...answer, content: [text(800)], stopReason: "stop", timestamp };
  }
}

const USAGE = {
  input: 1200,
  output: 250,
  cacheRead: 9000,
  cacheWrite: 0,
  totalTokens: 10450,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Writes lines through a buffer of a megabyte and knows the offset of each. */
class LineFile {
  readonly #fd: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  bytes = 0;

  constructor(path: string) {
    this.#fd = openSync(path, "w", 0o600);
  }

  put(value: object): number {
    const offset = this.bytes;
    const line = `${JSON.stringify(value)}\n`;
    const bytes = Buffer.byteLength(line);
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    this.bytes += bytes;
    if (this.#waitingBytes > 2 ** 20) this.#flush();
    return offset;
  }

  close(): void {
    this.#flush();
    closeSync(this.#fd);
  }

  #flush(): void {
    writeSync(this.#fd, this.#waiting.join(""));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

/** Makes a transcript of `entries` messages unless it is there, with compactions or with all of them live. */
export function transcriptOf(entries: number, isCompacted = true): TranscriptData {
  const directory = join(dataDirectory(), `transcript-${entries}${isCompacted ? "" : "-live"}`);
  const about = join(directory, "about.json");
  if (existsSync(about)) return JSON.parse(readFileSync(about, "utf8")) as TranscriptData;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, "transcript.jsonl");
  const data: TranscriptData = { path, entries, ...writeTranscript(path, entries, isCompacted) };
  writeFileSync(about, JSON.stringify(data));
  return data;
}

function writeTranscript(
  path: string,
  entries: number,
  isCompacted: boolean,
): Omit<TranscriptData, "path" | "entries"> {
  const file = new LineFile(path);
  const random = seeded(entries);
  const iso = (index: number): string => new Date(STARTED_MS + index * 1000).toISOString();
  file.put({ type: "session", version: 3, id: `bench-${entries}`, timestamp: iso(0), cwd: "/bench" });
  let count = 0;
  let parentId: string | null = null;
  const put = (type: string, index: number, fields: object): number => {
    const id = idOf(count++);
    const offset = file.put({ type, id, parentId, timestamp: iso(index), g: 1, ...fields });
    parentId = id;
    return offset;
  };
  put("model_change", 0, { provider: "bench", modelId: "bench-1" });
  put("thinking_level_change", 0, { thinkingLevel: "off" });
  const kept: { readonly id: string; readonly offset: number }[] = [];
  let tailOffset = 0;
  let live = entries;
  for (let index = 0; index < entries; index++) {
    const offset = put("message", index, { message: messageAt(index, random, STARTED_MS + index * 1000) });
    kept.push({ id: idOf(count - 1), offset });
    if (kept.length > KEPT) kept.shift();
    const done = index + 1;
    if (!isCompacted || (entries - done) % EVERY !== AFTER || done < KEPT) continue;
    const first = kept[0]!;
    const summary = words(random, 1000);
    put("compaction", index, { summary, firstKeptEntryId: first.id, tokensBefore: 100_000 });
    tailOffset = first.offset;
    live = 1 + kept.length + AFTER;
  }
  file.close();
  return { bytes: file.bytes, tailOffset, live, firstId: idOf(0) };
}

/** A sessions directory with `count` chats, each a transcript of about 500 KB under a name of its own. */
export function chatsOf(count: number): string {
  const directory = join(dataDirectory(), `chats-${count}`);
  if (existsSync(directory)) return directory;
  const { path } = transcriptOf(380);
  const aside = mkdtempSync(`${directory}-`);
  const rows = Array.from({ length: count }, (_, chat) => {
    const id = `chat-${chat}`;
    linkSync(path, join(aside, `${id}.jsonl`));
    const row = {
      sessionId: id,
      sessionFile: `${id}.jsonl`,
      sessionStartedAt: STARTED_MS,
      updatedAt: STARTED_MS + chat,
    };
    return `${JSON.stringify(keyAt(chat))}: ${JSON.stringify(row)}`;
  });
  writeFileSync(join(aside, "sessions.json"), `{\n${rows.join(",\n")}\n}\n`, { mode: 0o600 });
  renameSync(aside, directory);
  return directory;
}

export const keyAt = (index: number): string => `agent:main:bench:direct:${String(index).padStart(7, "0")}`;

/** One row of about 250 bytes. */
function rowAt(index: number, random: () => number): object {
  const id = `${idOf(index)}-${idOf(index + 7)}`;
  const startedMs = STARTED_MS + Math.floor(random() * 1e10);
  const row = {
    sessionId: id,
    sessionFile: `${id}.jsonl`,
    sessionStartedAt: startedMs,
    lastInteractionAt: startedMs + 1000,
    updatedAt: startedMs + 2000 + index,
    status: "done",
    channel: "bench",
    chatType: "direct",
    label: "",
  };
  const missing = ROW_BYTES - JSON.stringify(row).length;
  return { ...row, label: words(random, Math.max(0, missing)) };
}

/** A sessions directory with `rows` rows, folded by the engine itself; read it, or change a copy. */
export async function storeOf(rows: number): Promise<string> {
  const directory = join(dataDirectory(), `store-${rows}`);
  if (existsSync(directory)) return directory;
  const aside = mkdtempSync(`${directory}-`);
  const random = seeded(rows);
  const lines = Array.from({ length: rows }, (_, index) => {
    return `${JSON.stringify(keyAt(index))}: ${JSON.stringify(rowAt(index, random))}`;
  });
  writeFileSync(join(aside, "sessions.json"), `{\n${lines.join(",\n")}\n}\n`, { mode: 0o600 });
  {
    await using sessions = await openSessions({ directory: aside, onProblem: () => {} });
    await sessions.update(keyAt(0), { label: "folded" });
  }
  renameSync(aside, directory);
  return directory;
}
