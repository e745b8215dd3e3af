/**
 * From what callers want to append to complete entries: ids, parents, times, and the way back to the leaf. Pure.
 *
 * Works on the log as known at this moment; when the log turns out to have moved on, the draft is made again.
 * Invariant: after a draft is written the leaf is where its caller expects it, whichever branch the entries went to.
 */
import type { OpenCall } from "./calls.ts";
import { type Entry, fieldsOf, isMessage, isToolResult, type NewEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { afterEntry, entersContext, openCallsOf } from "./open-calls.ts";
import { type Settings, settingsIn } from "./projection.ts";
import type { Unstamped } from "./store.ts";

/** What a draft has to know of the log. */
export interface Ground {
  readonly session: string;
  readonly leaf: string | null;
  /** From the root, or from where the context begins, to the leaf. */
  readonly path: readonly Entry[];
  readonly onPath: ReadonlyMap<string, Entry>;
  readonly open: readonly OpenCall[];
  /** Looked up before: the entries, wherever they are, that the new ones name as themselves, as parent or as call. */
  readonly known: ReadonlyMap<string, Entry>;
  /** Looked up before: the paths to those of them that are not on `path`. */
  readonly paths: ReadonlyMap<string, readonly Entry[]>;
  /** In force at the leaf, where a compaction is drafted and the path does not say it. */
  readonly inForce: Settings | null;
  /** The last line, where it is not the leaf: the way back from it is written first. */
  readonly cut: Entry | null;
  readonly nowIso: string;
  newId(): string;
}

/** One caller's entries: those to write, and in `result` all of them, also those that were there already. */
export interface Draft {
  readonly write: readonly Unstamped[];
  readonly result: readonly (Entry | Unstamped)[];
}

/** Grows while the callers of one commit are drafted one after the other. */
export class Drafting {
  /** The way back that the last line lacks; to be written before anything else. */
  readonly mend: readonly Unstamped[];
  readonly #ground: Ground;
  #leaf: string | null;
  /** Ids on the path to the leaf: those of the log (other ones after a move), and those drafted. */
  #below: { has(id: string): boolean };
  readonly #above = new Set<string>();
  #open: readonly OpenCall[];
  readonly #drafted = new Map<string, Unstamped>();

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#leaf = ground.leaf;
    this.#below = ground.onPath;
    this.#open = ground.open;
    this.mend = ground.cut === null ? [] : [this.#wayBack(ground.cut.id)];
  }

  /** A `holdfast:leaf` to where the leaf was; from now on the leaf. */
  #wayBack(from: string): Unstamped {
    const data = { from, reason: "late" };
    const move = this.#complete({ type: "custom", customType: "holdfast:leaf", data }, this.#leaf);
    this.#leaf = move.id;
    this.#above.add(move.id);
    this.#drafted.set(move.id, move);
    return move;
  }

  /** Drafts one caller's entries or throws (`calls_open`, `entry_missing`, `bad_entry`) and leaves no trace. */
  add(entries: readonly NewEntry[]): Draft {
    const write: Unstamped[] = [];
    const result: (Entry | Unstamped)[] = [];
    let before: string | undefined;
    let cursor = { parent: this.#leaf, open: this.#open };
    for (const entry of entries) {
      const there = this.#existing(entry.id);
      if (there !== undefined) {
        result.push(there);
        before = there.id;
        continue;
      }
      const parentId = entry.parentId === undefined ? (before ?? this.#naturalParent(entry)) : entry.parentId;
      if (parentId !== cursor.parent) cursor = { parent: parentId, open: this.#openAt(parentId) };
      const plain = this.#complete(entry, parentId);
      const complete = plain.type === "compaction" ? this.#compaction(plain, write) : plain;
      cursor = { parent: complete.id, open: nextOpen(cursor.open, complete as Entry) };
      write.push(complete);
      result.push(complete);
      before = complete.id;
    }
    return this.#settle(write, result, cursor.open);
  }

  /**
   * A compaction keeps entries from one of its ancestors on; anything else would hide what it does not summarise. It says
   * what is in force where it stands: what it stands for is not read again to know that.
   */
  #compaction(entry: Unstamped, write: readonly Unstamped[]): Unstamped {
    const drafted: Entry[] = [];
    let at = entry.parentId;
    while (at !== null) {
      const found = write.find(({ id }) => id === at) ?? this.#drafted.get(at);
      if (found === undefined) break;
      drafted.unshift(found as Entry);
      at = found.parentId;
    }
    const path = [...(at === null ? [] : this.#pathTo(at)), ...drafted];
    const { firstKeptEntryId } = entry;
    if (path.some(({ id }) => id === firstKeptEntryId)) {
      return withSettings(entry, path, at === this.#ground.leaf ? this.#ground.inForce : null);
    }
    const reason = `firstKeptEntryId ${String(firstKeptEntryId)} is not above this compaction`;
    throw new SessionError("bad_entry", { reason });
  }

  /** Keeps the draft, with the way back to the leaf where it is needed. */
  #settle(write: Unstamped[], result: (Entry | Unstamped)[], open: readonly OpenCall[]): Draft {
    const [first] = write;
    const last = write.at(-1);
    if (first === undefined || last === undefined) return { write, result };
    for (const entry of write) this.#drafted.set(entry.id, entry);
    const late = first.parentId !== this.#leaf && !isMove(first) && this.#leaf !== null;
    if (!late) {
      if (first.parentId !== this.#leaf) this.#moveTo(first.parentId);
      for (const entry of write) this.#above.add(entry.id);
      this.#leaf = last.id;
      this.#open = open;
      return { write, result };
    }
    const back = this.#leaf ?? undefined;
    const returning = write.map((entry) => ({ ...entry, returnTo: back }));
    const move = this.#wayBack(last.id);
    const byId = new Map(returning.map((entry) => [entry.id, entry]));
    return { write: [...returning, move], result: result.map((entry) => byId.get(entry.id) ?? entry) };
  }

  #moveTo(parentId: string | null): void {
    this.#above.clear();
    this.#below = new Set(parentId === null ? [] : this.#pathTo(parentId).map((entry) => entry.id));
  }

  #existing(id: string | undefined): Entry | Unstamped | undefined {
    return id === undefined ? undefined : (this.#drafted.get(id) ?? this.#ground.known.get(id));
  }

  /** Where an entry belongs that names no parent: at the leaf, or under what it answers if that is on another branch. */
  #naturalParent(entry: NewEntry): string | null {
    const { answers, seen, call } = fieldsOf(entry as Entry);
    const asked = Array.isArray(answers) ? answers.map(String) : [];
    if (asked.length > 0 && !asked.some((id) => this.#isOnPath(id))) {
      return this.#knownId(typeof seen === "string" ? seen : undefined) ?? this.#knownId(asked.at(-1)) ?? this.#leaf;
    }
    const called = (call as Entry["call"])?.entryId;
    if (called === undefined || this.#isOnPath(called)) return this.#leaf;
    return this.#knownId(called) ?? this.#leaf;
  }

  #isOnPath(id: string): boolean {
    return this.#above.has(id) || this.#below.has(id);
  }

  #knownId(id: string | undefined): string | undefined {
    return this.#existing(id)?.id;
  }

  #openAt(parentId: string | null): readonly OpenCall[] {
    if (parentId === null) return [];
    if (parentId === this.#leaf) return this.#open;
    const drafted = this.#drafted.get(parentId);
    if (drafted !== undefined) return nextOpen(this.#openAt(drafted.parentId), drafted as Entry);
    return openCallsOf(this.#pathTo(parentId));
  }

  /** The path to an entry of the log, or `entry_missing`. */
  #pathTo(id: string): readonly Entry[] {
    const { path, paths, session } = this.#ground;
    const index = path.findLastIndex((entry) => entry.id === id);
    const found = index === -1 ? paths.get(id) : path.slice(0, index + 1);
    if (found === undefined) throw new SessionError("entry_missing", { entry: id, session });
    return found;
  }

  #complete(entry: NewEntry, parentId: string | null): Unstamped {
    const id = entry.id ?? this.#ground.newId();
    return { ...entry, id, parentId, timestamp: entry.timestamp ?? this.#ground.nowIso };
  }
}

/** `earlier`: in force before the path, where it is known. */
function withSettings(entry: Unstamped, path: readonly Entry[], earlier: Settings | null): Unstamped {
  if (entry.inForce !== undefined) return entry;
  const here = settingsIn(path);
  const isKnown = earlier !== null || path[0]?.parentId === null;
  const thinkingLevel = here.thinkingLevel ?? earlier?.thinkingLevel ?? (isKnown ? "off" : undefined);
  const inForce = { ...(here.model ?? earlier?.model), ...(thinkingLevel === undefined ? {} : { thinkingLevel }) };
  return Object.keys(inForce).length === 0 ? entry : { ...entry, inForce };
}

/** An entry that is meant to move the leaf. */
function isMove(entry: Unstamped): boolean {
  return entry.type === "custom" && entry.customType === "holdfast:leaf";
}

/** The calls that are open after `entry`; `calls_open` for what may not stand between a call and its results. */
function nextOpen(open: readonly OpenCall[], entry: Entry): readonly OpenCall[] {
  const closes = isMessage(entry) && isToolResult(entry.message);
  if (open.length > 0 && entersContext(entry) && !closes) {
    throw new SessionError("calls_open", { count: open.length, call: open[0]?.toolCallId });
  }
  return afterEntry(open, entry, true);
}
