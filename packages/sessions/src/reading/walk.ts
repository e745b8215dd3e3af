/**
 * The way back from the leaf: fed with lines from the end of a file, it keeps those on the path and passes over the rest.
 *
 * Invariant: it answers "whole" whenever lines further up could change what it has concluded, so the caller reads the
 * file from its beginning instead. It never guesses.
 */
import {
  type CompactionEntry,
  type Entry,
  fieldsOf,
  isCompaction,
  isCustom,
  type ParsedLine,
  parseText,
} from "../entry.ts";
import { entryFlaw } from "../flaws.ts";
import { type Settings, settingsIn } from "../projection.ts";
import type { RawLine } from "./lines.ts";
import { Notes } from "./notes.ts";
import { type Peek, peek } from "./peek.ts";
import { type Damage, parseRaw } from "./whole.ts";

/** Go on with the line before; or done; or this file has to be read whole. */
export type Step = "on" | "done" | "whole";

export interface WalkOptions {
  /** Begin at this entry instead of the last one. */
  readonly leaf?: string | undefined;
  /** Go on, when the context is complete, until model and thinking level are known. */
  readonly settings?: boolean | undefined;
}

export const NOBODY = "";

/** A longer line is looked at before it is parsed. */
const LIKELY_BYTES_MAX = 16 * 1024;

export class Walk {
  /** The path, newest first. */
  readonly found: Entry[] = [];
  readonly tally: { entriesRead: number; bytesRead: number; readonly damaged: Damage[] };
  /** Oddities, and whether a line was passed over without looking into it. */
  readonly seen = { notes: new Notes(), hasPassed: false };
  /** Whether `found` reaches its root. */
  isWhole = false;
  readonly #options: WalkOptions;
  readonly #ids = new Set<string>();
  /** The id looked for; undefined: any, the next entry is the leaf; NOBODY: none, but the rest may hold a repetition. */
  wanted: string | undefined;
  #compaction: CompactionEntry | null = null;
  /** Writers' numbers met so far. */
  readonly g = { lowest: Number.POSITIVE_INFINITY, greatest: 0 };
  /** Null until the context is complete; then what is in force at its end, as far as is known. */
  #settings: Settings | null = null;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.wanted = options.leaf;
    this.tally = { entriesRead: 0, bytesRead: 0, damaged: [] };
  }

  /** Settings that were looked for, or null. */
  get settings(): Settings | null {
    return this.#options.settings === true ? this.#settings : null;
  }

  /** Takes the line before the one given last. */
  step(line: RawLine): Step {
    this.tally.bytesRead += line.length + 1;
    const text = this.#settings !== null || line.length > LIKELY_BYTES_MAX ? null : line.text;
    if (text !== null && isLikely(text, this.wanted)) {
      const parsed = parseText(text, () => line.bytes);
      return this.#parse(line, parsed, false);
    }
    const { bytes } = line;
    const seen = bytes === null ? null : peek(bytes);
    const step = seen === null ? "take" : this.#judge(seen);
    if (step === "take") return this.#parse(line, parseRaw(line), seen !== null);
    this.seen.hasPassed = true;
    return step;
  }

  /** At the beginning of the file: an id is still looked for, unless there was no entry at all. */
  end(): Step {
    return this.wanted === undefined || this.wanted === NOBODY ? "done" : "whole";
  }

  #judge(seen: Peek): Step | "take" {
    this.tally.entriesRead += 1;
    if (seen.g !== null && seen.g > this.g.lowest) return "whole";
    if (seen.g !== null) {
      this.g.lowest = seen.g;
      this.g.greatest = Math.max(this.g.greatest, seen.g);
    }
    if (this.#ids.has(seen.id)) return "whole";
    if (this.wanted !== undefined && seen.id !== this.wanted) return "on";
    if (this.#settings === null) return "take";
    this.#ids.add(seen.id);
    if (!isSearching(this.#options, this.#settings)) return "done";
    return mayTell(seen.type, this.#settings) ? "take" : this.#above(seen.parentId);
  }

  #parse(line: RawLine, parsed: ParsedLine, isJudged: boolean): Step {
    if (parsed.kind === "anonymous") return "whole";
    if (parsed.kind === "damaged") return this.#damage(line, parsed.why);
    if (parsed.kind === "blank") this.seen.notes.blank(line, null);
    if (parsed.kind !== "entry") return "on";
    this.seen.notes.entry(line, null, parsed.entry.type);
    const flaw = parsed.flaw ?? entryFlaw(fieldsOf(parsed.entry));
    if (flaw !== null) this.#damage(line, flaw);
    const { id, type, parentId, g } = fieldsOf(parsed.entry);
    // A parent that is no id is a gap, and gaps are bridged by what stands before them.
    if (parentId !== null && (typeof parentId !== "string" || parentId === "")) return "whole";
    const seen = { id: String(id), type: String(type), parentId, g: typeof g === "number" ? g : null };
    const step = isJudged ? "take" : this.#judge(seen);
    return step === "take" ? this.#take(parsed.entry) : step;
  }

  #damage(line: RawLine, why: string): Step {
    this.tally.damaged.push({ line: null, offset: line.offset, bytes: line.length, why });
    return "on";
  }

  #take(entry: Entry): Step {
    // Whoever wrote a fence had not caught up yet: its parent may be outdated, so it is never where the conversation is.
    if (this.wanted === undefined && isCustom(entry, "holdfast:fence")) return "on";
    // A late entry whose return line was cut off by a crash: the conversation stands where it says.
    if (this.wanted === undefined && typeof entry.returnTo === "string") return this.#above(entry.returnTo);
    this.#ids.add(entry.id);
    if (this.#settings !== null) return this.#setting(entry, this.#settings);
    this.found.push(entry);
    this.isWhole = entry.parentId === null;
    if (this.#compaction === null && isCompaction(entry)) this.#compaction = entry;
    if (!this.isWhole && entry.id !== this.#compaction?.firstKeptEntryId) return this.#above(entry.parentId);
    this.#settings = settingsIn(this.found.toReversed());
    return this.#setting(entry, this.#settings);
  }

  /**
   * Looks for the parent next; above a root there is nothing. A leaf alone is believed only when its parent was met (or
   * the beginning): it might repeat an earlier line, which would stand in between.
   */
  #above(parentId: string | null): Step {
    if (parentId === null && this.#ids.size > 1) return "done";
    this.wanted = parentId ?? NOBODY;
    return "on";
  }

  #setting(entry: Entry, known: Settings): Step {
    const here = settingsIn([entry]);
    const next = { model: known.model ?? here.model, thinkingLevel: known.thinkingLevel ?? here.thinkingLevel };
    this.#settings = next;
    return isSearching(this.#options, next) || this.#ids.size === 1 ? this.#above(entry.parentId) : "done";
  }
}

/** Whether this is probably the entry that is looked for, which has to be parsed anyway. Only a hint. */
function isLikely(text: string, wanted: string | undefined): boolean {
  return wanted === undefined || text.startsWith(`{"type":"message","id":"${wanted}"`);
}

function isSearching({ settings }: WalkOptions, known: Settings): boolean {
  return settings === true && (known.model === null || known.thinkingLevel === null);
}

/** Whether an entry of this type could set what is not known yet. */
function mayTell(type: string, known: Settings): boolean {
  if (type === "compaction") return true;
  if (type === "thinking_level_change") return known.thinkingLevel === null;
  return known.model === null && (type === "message" || type === "model_change");
}
