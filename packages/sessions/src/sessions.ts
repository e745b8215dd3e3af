/**
 * All conversations of one store: from a key to its row, from the row to the one open session of this process.
 * Invariant: one object per key and process, as long as the key stands for the same conversation.
 */
import { SessionError } from "./errors.ts";
import { type Keeping, keepingOver } from "./keeping/keep.ts";
import { parseSessionKey } from "./key.ts";
import { type Origin, openKey, type SessionsParts } from "./opening.ts";
import type { OpenedSession } from "./session.ts";
import type { Fsync, ListedSession, ListQuery, Session, SessionRow, Sessions } from "./types.ts";

/** An open session and how many hold it. */
interface Held {
  readonly opened: Promise<OpenedSession>;
  holders: number;
}

/** The `Sessions` over any store. Closing it closes the store. */
export function sessionsOver(parts: SessionsParts): Sessions {
  return new StoredSessions(parts);
}

class StoredSessions implements Sessions {
  readonly #parts: SessionsParts;
  readonly keep: Keeping;
  /** What `open` gives out, by key. */
  readonly #held = new Map<string, Held>();
  /** All that were given out and not closed, also those whose key has moved on. */
  readonly #all = new Set<Held>();
  #closed = false;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.keep = keepingOver({ ...parts, forget: (key) => void this.#held.delete(key) });
  }

  get fsync(): Fsync {
    return this.#parts.fsync;
  }

  async open(key: string, origin: Origin = {}): Promise<Session> {
    this.#check();
    parseSessionKey(key);
    for (let there = this.#held.get(key); there !== undefined; there = this.#held.get(key)) {
      // Counted before waiting, so that the last holder's close does not end it under our hands.
      there.holders += 1;
      const opened = await there.opened;
      if (opened.isUsable()) return opened.session;
      if (this.#held.get(key) === there) this.#held.delete(key);
    }
    const held: Held = { opened: openKey(this.#parts, key, origin, () => this.#letGo(key, held)), holders: 1 };
    this.#held.set(key, held);
    this.#all.add(held);
    try {
      return (await held.opened).session;
    } catch (error) {
      this.#drop(key, held);
      throw error;
    }
  }

  async get(key: string): Promise<SessionRow | undefined> {
    this.#check();
    parseSessionKey(key);
    return this.#parts.store.get(key);
  }

  async list(query: ListQuery = {}): Promise<readonly ListedSession[]> {
    this.#check();
    return this.#parts.store.list(query);
  }

  async update(key: string, patch: Readonly<Record<string, unknown>>): Promise<SessionRow> {
    this.#check();
    parseSessionKey(key);
    checkPatch(patch);
    const begun = await this.#isBegun(key);
    const row = await this.#parts.store.update(key, (before) => before && this.#patched(before, patch, begun));
    if (row === undefined) throw new SessionError("session_missing", { key });
    return row;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const held of this.#all) {
      // One that failed to open was told to its opener.
      const opened = await held.opened.catch(() => undefined);
      await opened?.settled();
      opened?.end();
    }
    this.#held.clear();
    this.#all.clear();
    await this.#parts.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #check(): void {
    if (this.#closed) throw new SessionError("closed");
  }

  #letGo(key: string, held: Held): void {
    held.holders -= 1;
    if (held.holders > 0) return;
    this.#drop(key, held);
    void held.opened.then((opened) => opened.end());
  }

  #drop(key: string, held: Held): void {
    this.#all.delete(held);
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  /** Whether the transcript is known to be there for good: this object has opened it, and may write to it. */
  async #isBegun(key: string): Promise<boolean> {
    const opened = await this.#held.get(key)?.opened.catch(() => undefined);
    return opened?.isUsable() ?? false;
  }

  /** A row that is written to after its transcript was begun is not `opening` any more. */
  #patched(before: SessionRow, patch: Readonly<Record<string, unknown>>, begun: boolean): SessionRow {
    const state = begun ? undefined : before.state;
    const fields = Object.entries({ ...before, state, updatedAt: this.#parts.world.nowMs(), ...patch });
    const { sessionId, sessionFile } = before;
    return { sessionId, sessionFile, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
  }
}

/** A row must stay a row: what identifies the transcript is not changed by a patch. */
function checkPatch(patch: Readonly<Record<string, unknown>>): void {
  const fixed = ["sessionId", "sessionFile"].find((name) => name in patch);
  if (fixed !== undefined)
    throw new SessionError("bad_entry", { reason: `${fixed} of a row is not changed by update` });
}
