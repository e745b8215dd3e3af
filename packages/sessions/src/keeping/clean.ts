/**
 * A transcript as it should have been written: the same entries in the same order, without what is damaged.
 *
 * Two passes: the first reads what the tree is, the second writes each line. Lines that need no change keep their bytes.
 * Invariant: what readers make of the damaged file (its entries, their parents, its leaf) is exactly what the clean one
 * says, and every difference between the two is named. Memory holds one small record per entry and one line.
 */
import { isObject, sha256 } from "@holdfast/base";
import { type Entry, encodeEntry, encodeHeader, fieldsOf, type Header, identify } from "../entry.ts";
import { entryFlaw } from "../flaws.ts";
import { CURRENT_VERSION } from "../reading/header.ts";
import { forward, type RawLine } from "../reading/lines.ts";
import type { ByteSource } from "../reading/source.ts";
import { parseRaw, readWhole, type Whole } from "../reading/whole.ts";
import { Naming, renamedLinks } from "./naming.ts";
import type { Change, ChangeKind, Piece } from "./piece.ts";

export interface CleanOptions {
  /** Used where the file has no header that can be. */
  readonly fallbackId: string;
  /** The header as it shall be; left out: as it was. */
  readonly header?: (header: Header) => Header;
  /** Entries to put before the first. */
  readonly first?: (header: Header) => readonly Entry[];
  /** Leave out `g` and `t`: rights of another store mean nothing here. */
  readonly dropRights?: boolean;
  /** Another program's kinds of entries, said in ours. */
  readonly adjust?: (entry: Entry) => Entry;
  /** Id of the entry the conversation stands at, where the file itself does not say. */
  readonly leaf?: string | null;
}

/** Lines and differences of a transcript, in the order of its lines. */
export async function* cleaned(source: ByteSource, options: CleanOptions, read?: Whole): AsyncGenerator<Piece> {
  const whole = read ?? (await readWhole(source));
  yield* new Cleaning(source, whole, options).pieces();
}

const LINE_FEED = Buffer.from("\n");

class Cleaning {
  readonly #source: ByteSource;
  readonly #whole: Whole;
  readonly #options: CleanOptions;
  readonly #naming: Naming;
  readonly #flawed: ReadonlyMap<number, string>;
  readonly #stale: ReadonlySet<string>;
  /** Index of the next entry in the tree, and the number of the line read last. */
  #next = 0;
  #line = 0;

  constructor(source: ByteSource, whole: Whole, options: CleanOptions) {
    this.#source = source;
    this.#whole = whole;
    this.#options = options;
    this.#naming = new Naming(whole.tree);
    this.#flawed = new Map(whole.report.damaged.map((damage) => [damage.offset, damage.why]));
    this.#stale = new Set(whole.report.stale.map(({ id, g }) => `${g} ${id}`));
  }

  async *pieces(): AsyncGenerator<Piece> {
    const header = await this.#header();
    yield* header.pieces;
    for (const entry of this.#options.first?.(header.header) ?? []) yield lineOf(entry);
    for await (const line of forward(this.#source)) {
      this.#line += 1;
      const isEntry = this.#whole.tree.nodes[this.#next]?.offset === line.offset;
      if (isEntry) yield* this.#entry(line, this.#next++);
      else yield* this.#other(line);
    }
    yield* this.#leaf();
  }

  async #header(): Promise<{ header: Header; pieces: Piece[] }> {
    const { header: found, state, version } = this.#whole.header;
    const pieces: Piece[] = [];
    const note = (what: ChangeKind, why: string) =>
      pieces.push({ kind: "change", change: { line: null, offset: 0, bytes: 0, what, why }, aside: false });
    if (found === null) note("header_made", `the header is ${state}`);
    else if (state === "missing") note("header_moved", "the header was not the first line");
    const fields = found === null ? { timestamp: await this.#firstTime() } : fieldsOf(found);
    if (found !== null && version < CURRENT_VERSION) note("upgraded", `the file has version ${version}`);
    const id = typeof fields.id === "string" && fields.id !== "" ? fields.id : this.#options.fallbackId;
    if (found !== null && id !== fields.id) note("header_corrected", "the header has no id");
    const timestamp = typeof fields.timestamp === "string" ? fields.timestamp : await this.#firstTime();
    const sound: Header = { ...fields, type: "session", version: Math.max(version, CURRENT_VERSION), id, timestamp };
    const header = this.#options.header?.(sound) ?? sound;
    pieces.push({ kind: "line", id: null, text: `${encodeHeader(header)}\n` });
    return { header, pieces };
  }

  async #firstTime(): Promise<string> {
    const [ref] = this.#whole.tree.nodes;
    const timestamp = ref === undefined ? undefined : fieldsOf(await this.#whole.read(ref)).timestamp;
    return typeof timestamp === "string" ? timestamp : new Date(0).toISOString();
  }

  /** A line that is no entry of the tree. */
  *#other(line: RawLine): Generator<Piece> {
    const parsed = parseRaw(line);
    if (parsed.kind === "blank") {
      // A carriage return or white space; nothing is lost with it.
      yield this.#change(line, "blank_dropped", "a blank line", false);
    } else if (parsed.kind === "damaged") {
      yield this.#change(line, "damage_set_aside", parsed.why, true);
    } else if (parsed.kind === "header") {
      const isUsed = parsed.header.id === this.#whole.header.header?.id && parsed.flaw === null;
      const isFirst = isUsed && this.#flawed.get(line.offset) === undefined;
      if (!isFirst) yield this.#change(line, "damage_set_aside", this.#flawed.get(line.offset) ?? "a header", true);
    } else {
      yield this.#change(line, "repetition_dropped", `entry ${idOf(parsed)} is there already`, true);
    }
  }

  async *#entry(line: RawLine, index: number): AsyncGenerator<Piece> {
    const ref = this.#whole.tree.nodes[index]!;
    const id = this.#naming.nameOf(index);
    const parentId = this.#naming.parentOf(index);
    const isKept = ref.id === id && ref.parentId === parentId;
    const flaw = this.#flawed.get(line.offset);
    const mustRead =
      !isKept ||
      flaw !== undefined ||
      this.#stale.size > 0 ||
      this.#rewritesAll() ||
      this.#naming.mayPointToShared(index);
    const kept = ref.type === "compaction" ? this.#naming.keptBy(index) : undefined;
    if (!mustRead && (kept === undefined || kept === ref.firstKeptEntryId)) {
      yield asItStands(line, id);
      return;
    }
    const was = await this.#whole.read(ref);
    const { entry, changes } = this.#mended(was, { index, id, parentId, kept, flaw });
    for (const { what, why, aside } of changes) yield this.#change(line, what, why, aside === true);
    const isSame = changes.length === 0 && encodeEntry(entry) === encodeEntry(was);
    yield isSame && !this.#rewritesAll() ? asItStands(line, id) : lineOf(this.#adjusted(entry));
  }

  #rewritesAll(): boolean {
    const { dropRights, adjust } = this.#options;
    return dropRights === true || adjust !== undefined || this.#whole.header.version < CURRENT_VERSION;
  }

  #mended(was: Entry, place: Place): { entry: Entry; changes: Difference[] } {
    const changes: Difference[] = [];
    const before = fieldsOf(was);
    let entry = identify(renamedLinks(before, this.#naming, place.index), place.id, place.parentId);
    if (place.id !== was.id) changes.push({ what: "id_given", why: idChange(was.id, place.id, place.flaw) });
    if (fieldsOf(entry).targetId !== before.targetId) {
      changes.push({ what: "target_set", why: `what it points to is now ${String(fieldsOf(entry).targetId)}` });
    }
    if (this.#isGap(place))
      changes.push({ what: "parent_set", why: gapWhy(this.#whole.tree.nodes[place.index]!.parentId, place.parentId) });
    if (place.kept !== undefined && place.kept !== before.firstKeptEntryId) {
      entry = identify({ ...fieldsOf(entry), firstKeptEntryId: place.kept }, place.id, place.parentId);
      changes.push({ what: "kept_entry_set", why: `${String(before.firstKeptEntryId)} is not before it on its path` });
    }
    const flaw = entryFlaw(fieldsOf(entry));
    if (flaw !== null) {
      entry = withoutFlaw(entry, flaw);
      changes.push({ what: "fields_set_aside", why: flaw, aside: true });
    } else if (place.flaw !== undefined && !NAMED_OTHERWISE.has(place.flaw)) {
      changes.push({ what: "text_cleaned", why: place.flaw, aside: true });
    }
    if (this.#stale.has(`${was.g} ${was.id}`)) {
      const { g: _, ...rest } = fieldsOf(entry);
      entry = identify(rest, entry.id, entry.parentId);
      changes.push({
        what: "stale_marked",
        why: `generation ${was.g} was over; it counts as a branch, never as the leaf`,
      });
    }
    return { entry, changes };
  }

  #isGap(place: Place): boolean {
    if (this.#whole.header.version < 2) return false;
    const ref = this.#whole.tree.nodes[place.index]!;
    return ref.parentId !== place.parentId && !this.#naming.isRenamed(ref.parentId, place.index);
  }

  #adjusted(entry: Entry): Entry {
    const adjusted = this.#options.adjust?.(entry) ?? entry;
    if (this.#options.dropRights !== true) return adjusted;
    const { g: _g, t: _t, ...rest } = fieldsOf(adjusted);
    const { customType, data } = rest;
    // A fence without the numbers it fences would make every later line stale.
    const fence = customType === "holdfast:fence" && isObject(data) ? { data: { ...data, g: 0 } } : {};
    return identify({ ...rest, ...fence }, adjusted.id, adjusted.parentId);
  }

  /** Where the last line is not where the conversation stands, a line that says so. */
  async *#leaf(): AsyncGenerator<Piece> {
    const { tree, leaf } = this.#whole;
    const asked = this.#options.leaf;
    const index = asked === undefined || asked === null ? leaf : tree.indexOf(asked);
    const last = tree.size - 1;
    if (index === last || (index === -1 && asked !== undefined && asked !== null)) return;
    const [from, to] = [this.#naming.nameOf(last), index === -1 ? null : this.#naming.nameOf(index)];
    const why = `the conversation stands ${to === null ? "before all entries" : `at ${to}`}, and another entry is the last`;
    const change: Change = { line: null, offset: this.#source.size, bytes: 0, what: "leaf_stated", why };
    yield { kind: "change", change, aside: false };
    const { timestamp } = fieldsOf(await this.#whole.read(tree.nodes[last]!));
    yield lineOf(leafEntry(from, to, typeof timestamp === "string" ? timestamp : await this.#firstTime()));
  }

  #change(line: RawLine, what: ChangeKind, why: string, aside: boolean): Piece {
    const { offset, length } = line;
    return { kind: "change", change: { line: this.#line, offset, bytes: length, what, why }, aside };
  }
}

/** Where an entry goes, and what is known to be odd about its line. */
interface Place {
  readonly index: number;
  readonly id: string;
  readonly parentId: string | null;
  /** What its `firstKeptEntryId` shall be, for a compaction. */
  readonly kept: string | undefined;
  readonly flaw: string | undefined;
}

interface Difference {
  readonly what: ChangeKind;
  readonly why: string;
  readonly aside?: boolean;
}

/** Flaws whose mending has a name of its own. */
const NAMED_OTHERWISE: ReadonlySet<string> = new Set(["no id", "compaction without firstKeptEntryId"]);

function asItStands(line: RawLine, id: string): Piece {
  return { kind: "line", id, text: Buffer.concat([line.bytes ?? Buffer.alloc(0), LINE_FEED]) };
}

function lineOf(entry: Entry): Piece {
  return { kind: "line", id: entry.id, text: `${encodeEntry(entry)}\n` };
}

function idOf(parsed: ReturnType<typeof parseRaw>): string {
  return parsed.kind === "entry" ? parsed.entry.id : "without id";
}

function idChange(was: string, now: string, flaw: string | undefined): string {
  return flaw === "no id" || /^line-\d+$/.test(was)
    ? `it had no id and is now ${now}`
    : `${was} was used before by another entry; this one is now ${now}`;
}

function gapWhy(was: string | null | undefined, now: string | null): string {
  const named = was === undefined ? "it named no parent" : `its parent ${JSON.stringify(was)} is not before it`;
  return `${named}; ${now === null ? "it is a root" : `it follows ${now}`}`;
}

/** Summaries lack little and are worth keeping; anything else that cannot be used becomes state that nobody reads. */
function withoutFlaw(entry: Entry, flaw: string): Entry {
  const fields = fieldsOf(entry);
  if (flaw === "compaction without summary") return identify({ ...fields, summary: "" }, entry.id, entry.parentId);
  if (flaw === "branch_summary without fromId" && typeof fields.summary === "string")
    return identify({ ...fields, fromId: entry.parentId ?? "root" }, entry.id, entry.parentId);
  const { timestamp, g, t } = fields;
  const { id: _id, parentId: _parentId, ...data } = fields;
  const rights = { ...(g === undefined ? {} : { g }), ...(t === undefined ? {} : { t }) };
  return identify(
    { type: "custom", timestamp, ...rights, customType: "holdfast:damaged", data },
    entry.id,
    entry.parentId,
  );
}

/** Its id comes from what it says, so that cleaning the same file twice gives the same bytes. */
function leafEntry(from: string, to: string | null, timestamp: string): Entry {
  const id = `leaf-${sha256(`${from} ${to}`).slice(0, 16)}`;
  return { type: "custom", id, parentId: to, timestamp, customType: "holdfast:leaf", data: { from, reason: "repair" } };
}
