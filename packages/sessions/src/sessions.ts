/**
 * All conversations of one store: from a key to its row, from the row to the one open session of this process.
 * Invariant: a key has one session id whoever asks, because the row is durable before its transcript exists.
 */
import type { World } from "@holdfast/base";
import type { Header } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { parseSessionKey } from "./key.ts";
import { type OpenedSession, openSession } from "./session.ts";
import type { LogRef, SessionStore, Unstamped } from "./store.ts";
import type { Fsync, ListedSession, ListQuery, Session, SessionRow, Sessions } from "./types.ts";

export interface SessionsParts {
  readonly store: SessionStore;
  readonly world: World;
  readonly fsync: Fsync;
  readonly cwd: string;
  /** The transcript of a row is not there any more: a new one is begun under the same id. */
  readonly onLost: (key: string, log: LogRef) => void;
}

interface Origin {
  readonly channel?: string;
  readonly chatType?: string;
}

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
  readonly #held = new Map<string, Held>();
  #closed = false;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
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
    const held: Held = { opened: this.#open(key, origin, () => this.#letGo(key, held)), holders: 1 };
    this.#held.set(key, held);
    try {
      return (await held.opened).session;
    } catch (error) {
      if (this.#held.get(key) === held) this.#held.delete(key);
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
    const row = await this.#parts.store.update(key, (before) => before && this.#patched(before, patch));
    if (row === undefined) throw new SessionError("session_missing", { key });
    return row;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const held of this.#held.values()) {
      // One that failed to open was told to its opener.
      const opened = await held.opened.catch(() => undefined);
      await opened?.settled();
      opened?.end();
    }
    this.#held.clear();
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
    if (this.#held.get(key) === held) this.#held.delete(key);
    void held.opened.then((opened) => opened.end());
  }

  /** A row that is written to after its transcript was begun is not `opening` any more. */
  #patched(before: SessionRow, patch: Readonly<Record<string, unknown>>): SessionRow {
    const fields = Object.entries({ ...before, state: undefined, updatedAt: this.#parts.world.nowMs(), ...patch });
    const { sessionId, sessionFile } = before;
    return { sessionId, sessionFile, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
  }

  /** Row first, then the transcript: a crash in between leaves a row in state `opening`, whose transcript is begun now. */
  async #open(key: string, origin: Origin, onClose: () => void): Promise<OpenedSession> {
    const { store, world, fsync } = this.#parts;
    const row = await this.#rowOf(key, origin);
    const log: LogRef = { id: row.sessionId, file: row.sessionFile };
    const isNew = await this.#begin(key, log, origin);
    if (isNew && row.state !== "opening") this.#parts.onLost(key, log);
    const found = isNew ? "new" : "resumed";
    return openSession({ key, log, found, store, world, fsync, onClose });
  }

  /** Makes the transcript unless it is there; one that is there is opened without any lock. */
  async #begin(key: string, log: LogRef, origin: Origin): Promise<boolean> {
    const there = await this.#parts.store.read(log);
    await there?.[Symbol.asyncDispose]();
    if (there !== undefined) return false;
    return (await this.#parts.store.create(log, this.#header(log), [this.#about(key, origin)])) === "created";
  }

  async #rowOf(key: string, origin: Origin): Promise<SessionRow> {
    const { store, world } = this.#parts;
    const there = await store.get(key);
    if (there !== undefined) return there;
    const sessionId = world.newId("session");
    const nowMs = world.nowMs();
    const times = { sessionStartedAt: nowMs, updatedAt: nowMs };
    const fresh: SessionRow = { sessionId, sessionFile: `${sessionId}.jsonl`, ...times, state: "opening", ...origin };
    return (await store.update(key, (now) => now ?? fresh)) ?? fresh;
  }

  #header(log: LogRef): Header {
    const timestamp = new Date(this.#parts.world.nowMs()).toISOString();
    return { type: "session", version: 3, id: log.id, timestamp, cwd: this.#parts.cwd };
  }

  #about(key: string, origin: Origin): Unstamped {
    const timestamp = new Date(this.#parts.world.nowMs()).toISOString();
    const data = { key, agentId: parseSessionKey(key).agentId, ...origin };
    const id = this.#parts.world.newId("entry");
    return { type: "custom", customType: "holdfast:session", data, id, parentId: null, timestamp };
  }
}

/** A row must stay a row: what identifies the transcript is not changed by a patch. */
function checkPatch(patch: Readonly<Record<string, unknown>>): void {
  const fixed = ["sessionId", "sessionFile"].find((name) => name in patch);
  if (fixed !== undefined)
    throw new SessionError("bad_entry", { reason: `${fixed} of a row is not changed by update` });
}
