/**
 * Reads the older, flat layout (docs/format.md) and our JSON export as entries of a transcript.
 *
 * Two passes: which message stands where, then the messages one by one. A summary that messages name as their parent
 * stands between what it replaces and them; one that no message names comes after the last message and keeps what lies
 * beyond the number it stands for.
 * Invariant: no message is lost: what a summary does not count stays in the context, and all stay in the file.
 */
import { canonical, isObject, tryParse } from "@holdfast/base";
import { derivedId, type Entry, encodeEntry, encodeHeader, type Header } from "../entry.ts";
import { Naming } from "../keeping/naming.ts";
import type { Change, ChangeKind, Piece } from "../keeping/piece.ts";
import { backward, forward, type RawLine } from "../reading/lines.ts";
import type { ByteSource } from "../reading/source.ts";
import type { EntryRef } from "../reading/whole.ts";
import { Tree } from "../tree.ts";
import { fromStored, headOf, type StoredHead, timeOfStored } from "./stored.ts";

/** For a file without any time. */
const EPOCH = new Date(0).toISOString();

interface FlatRef extends EntryRef {
  /** Set for a summary in the form of the flat layout. */
  readonly summaryOf: number | undefined;
  readonly original: StoredHead["original"];
}

export interface FlatFile {
  /** When the first message was written, ISO 8601. */
  readonly began: string;
  readonly messages: number;
  readonly lastUserMs: number | null;
  pieces(options: FlatOptions): AsyncGenerator<Piece>;
}

export interface FlatOptions {
  readonly header: Header;
  readonly first?: readonly Entry[];
  readonly from: "flat" | "json";
  /** Id of the message the conversation stands at; left out: the last. */
  readonly leaf?: string | null;
}

/** Reads where each message stands. Lines that are none are counted and named in `pieces`. */
export async function readFlat(source: ByteSource): Promise<FlatFile> {
  const file = new Flat(source);
  for await (const line of forward(source)) await file.take(line);
  return file;
}

/**
 * When a flat file begins and when a person spoke last in it, from its first and last lines; undefined when it is not one.
 * Says what `readFlat` says of the whole.
 */
export async function peekFlat(source: ByteSource): Promise<Pick<FlatFile, "began" | "lastUserMs"> | undefined> {
  let isFlat = false;
  let began: string | undefined;
  for await (const { bytes } of forward(source)) {
    const value = messageOn(bytes);
    if (!isFlat && isObject(value) && typeof value.type === "string") return undefined;
    if (!isObject(value) || headOf(value) === undefined) continue;
    isFlat = true;
    const ms = timeOfStored(value);
    if (ms === null) continue;
    began = new Date(ms).toISOString();
    break;
  }
  return isFlat ? { began: began ?? EPOCH, lastUserMs: await lastUserMsIn(source) } : undefined;
}

async function lastUserMsIn(source: ByteSource): Promise<number | null> {
  for await (const { bytes } of backward(source)) {
    const value = messageOn(bytes);
    const ms = isObject(value) && value.role === "user" ? timeOfStored(value) : null;
    if (ms !== null) return ms;
  }
  return null;
}

/** The value on a line; those of the JSON export end with a comma. */
function messageOn(line: Buffer | null): unknown {
  if (line === null) return undefined;
  // No pattern for the end: it would try every run of spaces inside of the line, each from each of its characters.
  const text = line.toString("utf8").trim();
  return tryParse(text.endsWith(",") ? text.slice(0, -1) : text);
}

class Flat implements FlatFile {
  readonly #source: ByteSource;
  readonly #tree = new Tree<FlatRef>();
  readonly #changes: { readonly change: Change; readonly aside: boolean }[] = [];
  /** Exported summaries stand under another id than they had. */
  readonly #aliases = new Map<string, string>();
  #line = 0;
  #began: string | undefined;
  /** When a person spoke last, in milliseconds since 1970; null: never. */
  lastUserMs: number | null = null;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get began(): string {
    return this.#began ?? EPOCH;
  }

  get messages(): number {
    return this.#tree.size;
  }

  async take(line: RawLine): Promise<void> {
    this.#line += 1;
    const value = messageOn(line.bytes);
    const head = headOf(value);
    if (head === undefined || !isObject(value)) return this.#odd(line);
    const ms = timeOfStored(value);
    if (ms !== null) this.#began ??= new Date(ms).toISOString();
    if (value.role === "user") this.lastUserMs = timeOfStored(value) ?? this.lastUserMs;
    const { type, summaryOf, original } = head;
    if (original !== undefined && head.id !== undefined) this.#aliases.set(head.id, original.id);
    const id = original?.id ?? head.id ?? derivedId(this.#line);
    const parentId =
      typeof head.parentId === "string" ? (this.#aliases.get(head.parentId) ?? head.parentId) : head.parentId;
    const place = { offset: line.offset, length: line.length, line: this.#line };
    const ref = { id, type, ...place, summaryOf, original, ...(parentId === undefined ? {} : { parentId }) };
    const same = await this.#isSame(id, value);
    if (this.#tree.add(ref, () => same).kind === "ignored")
      this.#note(line, "repetition_dropped", `${id} is there already`);
  }

  async #isSame(id: string, value: unknown): Promise<boolean> {
    const ref = this.#tree.nodes[this.#tree.indexOf(id)];
    return ref !== undefined && canonical(await this.#read(ref)) === canonical(value);
  }

  /** A line that is no message: blank, part of the JSON around the messages, or damaged. */
  #odd(line: RawLine): void {
    const text = line.bytes?.toString("utf8").trim() ?? "?";
    if (text === "" || text === "]}" || text.startsWith('{"session":')) return;
    this.#note(line, "damage_set_aside", "no message");
  }

  #note(line: RawLine, what: ChangeKind, why: string): void {
    const { offset, length: bytes } = line;
    this.#changes.push({ change: { line: this.#line, offset, bytes, what, why }, aside: true });
  }

  async #read(ref: FlatRef): Promise<Readonly<Record<string, unknown>>> {
    const value = messageOn(await this.#source.read(ref.offset, ref.length));
    if (!isObject(value)) throw new TypeError(`line ${ref.line} changed while read`);
    return value;
  }

  async *pieces({ header, first = [], from, leaf }: FlatOptions): AsyncGenerator<Piece> {
    for (const { change, aside } of this.#changes) yield { kind: "change", change, aside };
    yield { kind: "line", id: null, text: `${encodeHeader(header)}\n` };
    for (const entry of first) yield lineOf(entry);
    const naming = new Naming(this.#tree);
    const places = placesOf(this.#tree, naming);
    let timestamp = header.timestamp;
    for (const { index, parentId, firstKeptEntryId, standsAlone } of places) {
      const id = naming.nameOf(index);
      const stored = await this.#read(this.#tree.nodes[index]!);
      const entry = fromStored(stored, { id, parentId, firstKeptEntryId, standsAlone, timestamp, from });
      timestamp = entry.timestamp;
      yield lineOf(entry);
    }
    yield* this.#leaf(places.at(-1), leaf, timestamp, naming);
  }

  *#leaf(
    last: Place | undefined,
    leaf: string | null | undefined,
    timestamp: string,
    naming: Naming,
  ): Generator<Piece> {
    const index = typeof leaf === "string" ? this.#tree.indexOf(leaf) : -1;
    if (last === undefined || index === -1 || index === last.index) return;
    const [from, parentId] = [naming.nameOf(last.index), naming.nameOf(index)];
    const data = { from, reason: "import" };
    yield lineOf({ type: "custom", id: `leaf-of-${from}`, parentId, timestamp, customType: "holdfast:leaf", data });
  }
}

function lineOf(entry: Entry): Piece {
  return { kind: "line", id: entry.id, text: `${encodeEntry(entry)}\n` };
}

interface Place {
  readonly index: number;
  readonly parentId: string | null;
  readonly firstKeptEntryId: string | undefined;
  readonly standsAlone?: boolean;
}

/** The order and parents that say the same in a transcript. Pure. */
function placesOf(tree: Tree<FlatRef>, naming: Naming): Place[] {
  const named = new Set(tree.nodes.map((_, index) => tree.parentOf(index)));
  const places: Place[] = [];
  const unnamed: number[] = [];
  for (const [index, ref] of tree.nodes.entries()) {
    if (ref.summaryOf === undefined) {
      places.push({ index, parentId: naming.parentOf(index), firstKeptEntryId: undefined });
    } else if (named.has(index)) places.push(namedSummary(tree, naming, index, places.at(-1)?.index ?? -1));
    else unnamed.push(index);
  }
  const end = places.at(-1)?.index ?? -1;
  for (const index of unnamed) {
    const before = places.at(-1);
    const parentId = before === undefined ? null : naming.nameOf(before.index);
    places.push({ index, parentId, firstKeptEntryId: keptBy(tree, naming, index, end), standsAlone: true });
  }
  return places;
}

/** Between what came before it in the file and the messages that name it. */
function namedSummary(tree: Tree<FlatRef>, naming: Naming, index: number, before: number): Place {
  const above = tree.nodes[index]?.original?.parentId ?? null;
  const known = above === null ? -1 : tree.indexOf(above);
  const parent = known === -1 || known >= index ? before : known;
  const parentId = parent === -1 ? null : naming.nameOf(parent);
  return { index, parentId, firstKeptEntryId: keptBy(tree, naming, index, parent) };
}

/** The first message on the path to `end` that a summary does not stand for; its own id when it stands for all. */
function keptBy(tree: Tree<FlatRef>, naming: Naming, index: number, end: number): string {
  const { summaryOf = Number.POSITIVE_INFINITY, original } = tree.nodes[index]!;
  if (original !== undefined && original.kept === original.id) return naming.nameOf(index);
  const path = tree.pathTo(end);
  const named = path.find((ref) => ref.id === original?.kept);
  const kept = named ?? path[summaryOf];
  return naming.nameOf(kept === undefined ? index : tree.indexOf(kept.id));
}
