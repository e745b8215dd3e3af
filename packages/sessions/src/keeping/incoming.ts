/**
 * A history from outside, whatever kind of file it is in, as the lines of a sound transcript.
 * Invariant: the file is only read, and what is read from it depends on nothing else.
 */
import { isObject, tryParse } from "@holdfast/base";
import { type Entry, fieldsOf, type Header, isCustom, isMessage } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { type FlatFile, readFlat } from "../formats/flat.ts";
import { headOf, timeOf } from "../formats/stored.ts";
import { forward } from "../reading/lines.ts";
import { type ByteSource, memorySource, type OpenSource, openSource } from "../reading/source.ts";
import { readWhole } from "../reading/whole.ts";
import { type Disk, realDisk } from "../stores/file/disk.ts";
import { refuseOther } from "../transcript.ts";
import { type CleanOptions, cleaned } from "./clean.ts";
import { flatIdOf } from "./flat-name.ts";
import type { Piece } from "./piece.ts";
import { sessionIdOf } from "./repair.ts";

/** How the lines shall come out; see `CleanOptions`. `adjust` is for transcripts only. */
export type IncomingOptions = Pick<CleanOptions, "adjust" | "leaf"> & {
  readonly header?: (header: Header) => Header;
  readonly first?: readonly Entry[];
};

export interface Incoming extends AsyncDisposable {
  readonly kind: "transcript" | "flat" | "json";
  /** As the file itself has it, or what stands for it. */
  readonly header: Header;
  /** The key that the file says it belongs to, or null. */
  readonly key: string | null;
  /** When a person spoke last, in milliseconds since 1970; null: never, or it does not say. */
  readonly lastUserMs: number | null;
  /** What the conversation was called last. */
  readonly name: string | null;
  pieces(options?: IncomingOptions): AsyncGenerator<Piece>;
}

/** A JSON document that is not line by line is read at once, up to this size. */
const JSON_BYTES_MAX = 256 * 1024 * 1024;

/** Throws `file_missing`, `not_a_file`, `read_failed`, `not_importable`. */
export async function openIncoming(file: string, disk: Disk = realDisk): Promise<Incoming> {
  const source = await openSource(file, disk);
  try {
    const kind = await kindOf(source);
    if (kind === "flat") return await flatIncoming(file, source);
    return kind === "json" ? await jsonIncoming(file, source) : await transcriptIncoming(file, source);
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

async function kindOf(source: ByteSource): Promise<Incoming["kind"]> {
  const begin = (await source.read(0, 4096))
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (/^\{\s*"session"\s*:/.test(begin) || /^\{\s*\n/.test(begin)) return "json";
  for await (const { bytes } of forward(source)) {
    const value = bytes === null ? undefined : tryParse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    if (!isObject(value)) continue;
    if (typeof value.type === "string") return "transcript";
    if (headOf(value) !== undefined) return "flat";
  }
  return "transcript";
}

async function transcriptIncoming(file: string, source: OpenSource): Promise<Incoming> {
  const said = new Said();
  const whole = await readWhole(source, (entry) => said.take(entry));
  refuseOther(file, whole);
  const fallbackId = sessionIdOf(file) ?? "imported";
  const known = whole.header.header;
  const id = typeof fieldsOf(known ?? ({} as Header)).id === "string" ? known!.id : fallbackId;
  const header: Header = { ...known, type: "session", version: 3, id, timestamp: String(known?.timestamp ?? "") };
  const pieces = ({ first = [], ...options }: IncomingOptions = {}): AsyncGenerator<Piece> =>
    cleaned(source, { fallbackId, dropRights: true, leaf: said.leaf, first: () => first, ...options }, whole);
  const { key, lastUserMs, name } = said;
  const end = () => source[Symbol.asyncDispose]();
  return { kind: "transcript", header, key, lastUserMs, name, pieces, [Symbol.asyncDispose]: end };
}

/** What the entries of a transcript say about it as a whole. */
class Said {
  key: string | null = null;
  lastUserMs: number | null = null;
  name: string | null = null;
  /** OpenClaw moves the leaf with an entry of its own kind; set while that is the last. */
  leaf: string | null = null;

  take(entry: Entry): void {
    this.key ??= keyIn(entry);
    const { type, targetId, appendMode, name } = fieldsOf(entry);
    this.leaf = type === "leaf" && typeof targetId === "string" && appendMode !== "side" ? targetId : null;
    if (isMessage(entry) && entry.message.role === "user") this.lastUserMs = timeOf(entry);
    if (type === "session_info") this.name = typeof name === "string" && name !== "" ? name : null;
  }
}

function keyIn(entry: Entry): string | null {
  if (!isCustom(entry, "holdfast:session") || !isObject(entry.data)) return null;
  return typeof entry.data.key === "string" ? entry.data.key : null;
}

async function flatIncoming(file: string, source: OpenSource): Promise<Incoming> {
  const flat = await readFlat(source);
  refuseEmpty(file, flat);
  const id = flatIdOf(file, flat.began);
  return messagesIncoming({ kind: "flat", flat, source, id, key: null, leaf: undefined });
}

async function jsonIncoming(file: string, source: OpenSource): Promise<Incoming> {
  const first = await firstLine(source);
  const head = tryParse(`${first}]}`);
  const isByLine = isObject(head) && first.endsWith('"messages":[');
  const document = isByLine ? head : tryParse(await textOf(file, source));
  if (!isObject(document) || !Array.isArray(document.messages)) {
    throw new SessionError("not_importable", { path: file, reason: "it has no list of messages" });
  }
  const lines = isByLine ? source : memorySource(document.messages.map((one) => JSON.stringify(one)).join("\n"));
  const flat = await readFlat(lines);
  const session = isObject(document.session) ? document.session : {};
  const id = typeof session.id === "string" ? session.id : (sessionIdOf(file) ?? "imported");
  const key = typeof session.key === "string" ? session.key : null;
  const leaf = typeof document.leaf === "string" ? document.leaf : undefined;
  return messagesIncoming({ kind: "json", flat, source, id, key, leaf });
}

async function firstLine(source: ByteSource): Promise<string> {
  for await (const { bytes } of forward(source)) return bytes?.toString("utf8").trim() ?? "";
  return "";
}

async function textOf(file: string, source: ByteSource): Promise<string> {
  if (source.size <= JSON_BYTES_MAX) return (await source.read(0, source.size)).toString("utf8").replace(/^\uFEFF/, "");
  const reason = `${source.size} bytes of JSON on few lines are more than ${JSON_BYTES_MAX}; export it as jsonl`;
  throw new SessionError("not_importable", { path: file, reason });
}

function refuseEmpty(file: string, flat: FlatFile): void {
  if (flat.messages === 0) throw new SessionError("not_importable", { path: file, reason: "it holds no message" });
}

interface Messages {
  readonly kind: "flat" | "json";
  readonly flat: FlatFile;
  readonly source: OpenSource;
  readonly id: string;
  readonly key: string | null;
  readonly leaf: string | undefined;
}

function messagesIncoming({ kind, flat, source, id, key, leaf }: Messages): Incoming {
  const header: Header = { type: "session", version: 3, id, timestamp: flat.began };
  const pieces = (options: IncomingOptions = {}): AsyncGenerator<Piece> =>
    flat.pieces({
      header: options.header?.(header) ?? header,
      first: options.first ?? [],
      from: kind,
      leaf: options.leaf ?? leaf ?? null,
    });
  const { lastUserMs } = flat;
  return {
    kind,
    header,
    key,
    lastUserMs,
    name: null,
    pieces,
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
