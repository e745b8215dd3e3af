/**
 * Reads a transcript from its first line to its last: for damage, old versions, entries without ids, and for `verify`.
 * Every line is parsed and let go; what stays is one small record per entry.
 * Invariant: every byte is accounted for: it belongs to an entry, a header, a blank line or the list of damage.
 */
import { canonical } from "@holdfast/base";
import {
  derivedId,
  type Entry,
  fieldsOf,
  type Header,
  identify,
  isCompaction,
  isCustom,
  type ParsedLine,
  parseLine,
  parseText,
} from "../entry.ts";
import { entryFlaw } from "../flaws.ts";
import { type Added, Tree, type TreeNode } from "../tree.ts";
import type { LinePlace, OpenReport } from "../types.ts";
import { CURRENT_VERSION, headerOf, type ReadHeader, upgraded } from "./header.ts";
import { forwardBatches, type RawLine } from "./lines.ts";
import { Notes } from "./notes.ts";
import type { ByteSource } from "./source.ts";

/** Where an entry stands and what its place on a path depends on. */
export interface EntryRef extends TreeNode {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly firstKeptEntryId?: string;
  readonly returnTo?: string;
}

export type Damage = OpenReport["damaged"][number];

export interface Whole {
  readonly tree: Tree<EntryRef>;
  /** Index of the entry that the conversation stands at, or -1. */
  readonly leaf: number;
  /** Whether a line came too late: kept, and no part of any path but of lines that other programs put under it. */
  isStale(index: number): boolean;
  /** The greatest writer's number in the file. */
  readonly g: number;
  /** Set when the line that should follow a late entry is missing: the late entry's record. */
  readonly cut: EntryRef | null;
  readonly header: ReadHeader;
  readonly lines: number;
  readonly report: OpenReport;
  /** Reads an entry again. */
  read(ref: EntryRef): Promise<Entry>;
}

/** Told about each entry that is part of the tree, in file order. */
export type Visit = (entry: Entry, index: number, tree: Tree<EntryRef>) => void;

export async function readWhole(source: ByteSource, visit: Visit = () => {}): Promise<Whole> {
  const scan = new Scan(source, visit);
  for await (const batch of forwardBatches(source)) {
    for (const line of batch) await scan.take(line);
  }
  return scan.result();
}

interface Findings {
  readonly damaged: Damage[];
  readonly gaps: OpenReport["gaps"][number][];
  readonly duplicates: OpenReport["duplicates"][number][];
  readonly stale: OpenReport["stale"][number][];
  readonly notes: Notes;
}

class Scan {
  readonly #source: ByteSource;
  readonly #visit: Visit;
  readonly #tree = new Tree<EntryRef>();
  readonly #odd: Findings = { damaged: [], gaps: [], duplicates: [], stale: [], notes: new Notes() };
  /** Ids by position among the lines that are not blank: what a version 1 compaction counts. */
  readonly #ids: string[] = [];
  #header: ReadHeader | null = null;
  #lines = 0;
  /** The highest fence, the greatest writer's number, and the nodes that came too late. */
  readonly #numbers = { fence: 0, greatest: 0, stale: new Set<number>() };
  #leaf = -1;

  constructor(source: ByteSource, visit: Visit) {
    this.#source = source;
    this.#visit = visit;
  }

  async take(line: RawLine): Promise<void> {
    this.#lines += 1;
    const parsed = parseRaw(line);
    if (parsed.kind === "blank") return this.#odd.notes.blank(line, this.#lines);
    const isFirst = this.#header === null;
    this.#header ??= headerOf(line.bytes ?? Buffer.from("?"));
    if (parsed.kind === "entry" || parsed.kind === "anonymous") return this.#entry(line, parsed);
    this.#ids.push("");
    if (parsed.kind === "damaged") return this.#damage(line, parsed.why);
    if (isFirst) return parsed.flaw === null ? undefined : this.#damage(line, parsed.flaw);
    this.#secondHeader(line, parsed.header);
  }

  #secondHeader(line: RawLine, header: Header): void {
    this.#damage(line, "a header that is not the first line");
    if (this.#header !== null && this.#header.header === null) this.#header = { ...this.#header, header };
  }

  async #entry(line: RawLine, parsed: ParsedLine & { kind: "entry" | "anonymous" }): Promise<void> {
    const isNamed = parsed.kind === "entry" && this.#version >= 2;
    const entry = upgraded(isNamed ? parsed.entry : this.#named(parsed), this.#version, this.#ids);
    this.#ids.push(entry.id);
    const lacksId = parsed.kind === "anonymous" && this.#version >= 2;
    const flaw = parsed.flaw ?? (lacksId ? "no id" : entryFlaw(fieldsOf(entry)));
    if (flaw !== null) this.#damage(line, flaw);
    this.#odd.notes.entry(line, this.#lines, entry.type);
    const same = await this.#isSame(entry);
    const isStale = entry.g !== undefined && entry.g < this.#numbers.fence;
    const { length: gaps } = this.#tree.gaps;
    const added = this.#tree.add(refOf(entry, line, this.#lines), () => same, !isStale);
    for (const gap of this.#tree.gaps.slice(gaps)) this.#odd.gaps.push({ ...gap, ...placeOf(line, this.#lines) });
    this.#note(entry, line, added, isStale);
  }

  get #version(): number {
    return this.#header?.version ?? CURRENT_VERSION;
  }

  /** An entry without an id is named by its line and, without a parent too, follows the entry before it. */
  #named(parsed: ParsedLine & { kind: "entry" | "anonymous" }): Entry {
    const fields = parsed.kind === "entry" ? fieldsOf(parsed.entry) : parsed.fields;
    const before = this.#tree.nodes.at(-1)?.id ?? null;
    const given = this.#version < 2 ? undefined : fields.parentId;
    return identify(fields, derivedId(this.#lines), given === undefined ? before : linkOf(given));
  }

  async #isSame(entry: Entry): Promise<boolean> {
    const index = this.#tree.indexOf(entry.id);
    const ref = this.#tree.nodes[index];
    // What came too late does not stand for the same entry written again.
    return ref !== undefined && !this.#numbers.stale.has(index) && sameEntry(await this.#read(ref), entry);
  }

  #note(entry: Entry, line: RawLine, added: Added, isStale: boolean): void {
    if (added.kind === "ignored" || added.repeats) {
      this.#odd.duplicates.push({ id: entry.id, identical: added.kind === "ignored", ...placeOf(line, this.#lines) });
    }
    if (added.kind === "ignored") return;
    if (isStale) this.#odd.stale.push({ id: entry.id, g: entry.g ?? 0, ...placeOf(line, this.#lines) });
    if (isStale) this.#numbers.stale.add(added.index);
    else if (!isCustom(entry, "holdfast:fence")) this.#leaf = added.index;
    this.#numbers.fence = Math.max(this.#numbers.fence, fenceOf(entry));
    this.#numbers.greatest = Math.max(this.#numbers.greatest, entry.g ?? 0);
    this.#visit(entry, added.index, this.#tree);
  }

  #damage(line: RawLine, why: string): void {
    this.#odd.damaged.push({ ...placeOf(line, this.#lines), bytes: line.length, why });
  }

  async #read(ref: EntryRef): Promise<Entry> {
    const parsed = parseLine(await this.#source.read(ref.offset, ref.length));
    if (parsed.kind !== "entry" && parsed.kind !== "anonymous")
      throw new TypeError(`line ${ref.line} changed while read`);
    const fields = parsed.kind === "entry" ? fieldsOf(parsed.entry) : parsed.fields;
    const isNamed = parsed.kind === "entry" && this.#version >= 2;
    const entry = isNamed ? parsed.entry : identify(fields, ref.id, ref.parentId ?? null);
    return upgraded(entry, this.#version, this.#ids);
  }

  result(): Whole {
    const { notes, ...odd } = this.#odd;
    const last = this.#tree.nodes[this.#leaf];
    const returned = last?.returnTo === undefined ? -1 : this.#tree.indexOf(last.returnTo);
    return {
      tree: this.#tree,
      leaf: returned === -1 ? this.#leaf : returned,
      isStale: (index) => this.#numbers.stale.has(index),
      g: this.#numbers.greatest,
      cut: returned === -1 || last === undefined ? null : last,
      header: this.#header ?? { header: null, state: "missing", version: CURRENT_VERSION },
      lines: this.#lines,
      report: {
        entriesRead: this.#tree.size,
        bytesRead: this.#source.size,
        partial: false,
        header: this.#header?.state ?? "missing",
        ...odd,
        noted: notes.list(),
      },
      read: (ref) => this.#read(ref),
    };
  }
}

function placeOf({ offset }: RawLine, line: number): LinePlace {
  return { line, offset };
}

/** A line as it stands in a file; one that is too long is damage. */
export function parseRaw(line: RawLine): ParsedLine {
  const { text } = line;
  return text === null ? { kind: "damaged", why: "too long" } : parseText(text, () => line.bytes);
}

/** A parent link as written; one that is no text names nobody. */
function linkOf(parentId: unknown): string | null {
  return parentId === null || typeof parentId === "string" ? parentId : "";
}

function refOf(entry: Entry, line: RawLine, number: number): EntryRef {
  const ref = { id: entry.id, type: entry.type, offset: line.offset, length: line.length, line: number };
  const { parentId } = fieldsOf(entry);
  return {
    ...ref,
    ...(parentId === undefined ? {} : { parentId: linkOf(parentId) }),
    ...(isCompaction(entry) ? { firstKeptEntryId: entry.firstKeptEntryId } : {}),
    ...(typeof entry.returnTo === "string" ? { returnTo: entry.returnTo } : {}),
  };
}

function fenceOf(entry: Entry): number {
  if (!isCustom(entry, "holdfast:fence")) return 0;
  const g = (entry.data as { readonly g?: unknown } | null | undefined)?.g;
  return typeof g === "number" ? g : 0;
}

/** Whether two entries of one id are the same: equal but for `g` and time. */
export function sameEntry(a: Entry, b: Entry): boolean {
  const essence = (entry: Entry): string => canonical({ ...entry, g: null, timestamp: null });
  return essence(a) === essence(b);
}
