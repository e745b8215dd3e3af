/**
 * An open conversation: the one object of this process through which a transcript is read and written.
 *
 * Callers that wait share one commit and one sync. A commit is compare-and-set on our position: if others wrote, what
 * they added is taken in and classified, the waiting entries are drafted again on the new ground, and so on.
 * Invariant: nothing is written on ground that was not read; after a break (rewritten, gone, failed sync) nothing is
 * written at all until the session is opened anew.
 */
import type { World } from "@holdfast/base";
import { classify } from "./changes.ts";
import { type Draft, Drafting } from "./draft.ts";
import { type Entry, type Header, isCustom, type NewEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { checkNewEntry } from "./flaws.ts";
import { Ground } from "./ground.ts";
import { needsSync } from "./policy.ts";
import { CURRENT_VERSION } from "./reading/header.ts";
import { entriesBackward, entriesForward, findEntry } from "./scan.ts";
import type { LogRef, Reading, LogStore, Unstamped } from "./store.ts";
import type {
  AppendOptions,
  Appended,
  Change,
  Claim,
  Context,
  ContextOptions,
  Fsync,
  OpenReport,
  Right,
  Session,
  SessionListener,
} from "./types.ts";

/** What a session is made of; `onClose` is called once, by the last close. */
export interface SessionParts {
  readonly key: string;
  readonly log: LogRef;
  readonly found: "new" | "resumed";
  readonly store: LogStore;
  readonly world: World;
  readonly fsync: Fsync;
  readonly onClose: () => void;
}

/** One caller of `append`, waiting. */
interface Waiting {
  readonly entries: readonly NewEntry[];
  readonly right: Right | undefined;
  readonly sync: boolean;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface Drafted {
  /** What a crash cut off and has to be written first. */
  readonly mend: readonly Unstamped[];
  readonly drafts: readonly (Draft & { readonly one: Waiting })[];
}

/** Rounds of one commit before it is given up: others write faster than we can read. */
const ROUNDS_MAX = 200;

/** Reads the log as far as its context needs. Throws `gone`. */
export async function openSession(parts: SessionParts): Promise<LogSession> {
  const ground = await Ground.read(parts.store, parts.log);
  return new LogSession(parts, ground, refusalOf(ground, parts.log));
}

/** Why nothing may be appended to this log, although it may be read: it was put away, or its version is only read. */
function refusalOf(ground: Ground, log: LogRef): SessionError | undefined {
  const { path, version } = ground.loaded;
  if (version !== CURRENT_VERSION) return new SessionError("read_only_version", { file: log.file, version });
  const last = path.findLast((entry) => isCustom(entry, "holdfast:closed") || isCustom(entry, "holdfast:opened"));
  const isClosed = last !== undefined && isCustom(last, "holdfast:closed");
  return isClosed ? new SessionError("gone", { file: log.file }) : undefined;
}

export class LogSession implements Session {
  readonly #parts: SessionParts;
  readonly #listeners = new Set<SessionListener>();
  readonly #waiting: Waiting[] = [];
  #ground: Ground;
  #work: Promise<unknown> = Promise.resolve();
  #broken: SessionError | undefined;
  readonly #refusal: SessionError | undefined;

  constructor(parts: SessionParts, ground: Ground, refusal: SessionError | undefined) {
    this.#parts = parts;
    this.#ground = ground;
    this.#refusal = refusal;
  }

  get key(): string {
    return this.#parts.key;
  }
  get id(): string {
    return this.#parts.log.id;
  }
  get file(): string | null {
    return this.#parts.store.pathOf(this.#parts.log);
  }
  get found(): "new" | "resumed" {
    return this.#parts.found;
  }
  get report(): OpenReport {
    return this.#ground.loaded.report;
  }
  get header(): Header | null {
    return this.#ground.loaded.header;
  }
  /** False once nothing more can be written through this object. */
  get isUsable(): boolean {
    return this.#broken === undefined;
  }

  leaf(): string | null {
    return this.#ground.leaf;
  }

  path(): readonly Entry[] {
    return this.#ground.loaded.path;
  }

  async context(options: ContextOptions = {}): Promise<Context> {
    return this.#ground.context(options);
  }

  async since(entryId: string | null): Promise<readonly Entry[]> {
    await using reading = await this.#read();
    const { source } = reading;
    const after = entryId === null ? { next: 0 } : await findEntry(source, entryId);
    if (after === undefined) throw new SessionError("entry_missing", { entry: entryId, session: this.id });
    const entries: Entry[] = [];
    for await (const entry of entriesForward(source, after.next)) entries.push(entry);
    return entries;
  }

  async entry(id: string): Promise<Entry | undefined> {
    return this.#ground.find(id);
  }

  async *newestFirst(): AsyncGenerator<Entry> {
    await using reading = await this.#read();
    yield* entriesBackward(reading.source);
  }

  async *oldestFirst(): AsyncGenerator<Entry> {
    await using reading = await this.#read();
    yield* entriesForward(reading.source);
  }

  append(entries: NewEntry | readonly NewEntry[], options: AppendOptions = {}): Promise<Appended> {
    const list = Array.isArray(entries) ? entries : [entries];
    return new Promise((resolve, reject) => {
      for (const entry of list) checkNewEntry(entry);
      // The caller keeps its objects; what is written is what they were at this moment.
      const copies = structuredClone(list) as readonly NewEntry[];
      this.#waiting.push({ entries: copies, right: options.right, sync: options.sync ?? false, resolve, reject });
      this.#next(() => this.#flush()).catch(() => {});
    });
  }

  async branch(entryId: string, options: AppendOptions & { readonly reason?: string } = {}): Promise<Appended> {
    if ((await this.#ground.find(entryId)) === undefined) {
      throw new SessionError("entry_missing", { entry: entryId, session: this.id });
    }
    const data = { from: this.leaf(), reason: options.reason ?? "branch" };
    const move: NewEntry = { type: "custom", customType: "holdfast:leaf", parentId: entryId, data };
    return this.append(move, { ...options, sync: this.#parts.fsync !== "never" });
  }

  catchUp(): Promise<Change> {
    return this.#next(async () => {
      this.#check();
      const { store, log } = this.#parts;
      const reading = await store.read(log, this.#ground.position);
      return this.#takeIn(reading, null);
    });
  }

  claimTurn(holder: string, leaseMs: number): Promise<Claim> {
    return this.#parts.store.claimTurn(this.#parts.log, holder, leaseMs);
  }

  renewTurn(right: Right, leaseMs: number): Promise<boolean> {
    return this.#parts.store.renewTurn(this.#parts.log, right, leaseMs);
  }

  releaseTurn(right: Right): Promise<void> {
    return this.#parts.store.releaseTurn(this.#parts.log, right);
  }

  subscribe(listener: SessionListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Waits for what is being written. Callers of a shared session each close it once; the last close ends it. */
  async close(): Promise<void> {
    await this.settled();
    this.#parts.onClose();
  }

  /** Resolves when everything asked for so far is done, well or badly. */
  async settled(): Promise<void> {
    await this.#work.catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends the object: called by whoever counts its holders. */
  end(): void {
    this.#broken ??= new SessionError("closed");
    this.#listeners.clear();
  }

  // ---- one thing at a time ----

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work, work);
    this.#work = done;
    return done;
  }

  #check(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  async #read(): Promise<Reading> {
    const reading = await this.#parts.store.read(this.#parts.log);
    if (reading === undefined) throw new SessionError("gone", { file: this.#parts.log.file });
    return reading;
  }

  /** Writes for everybody who waits under the same right, in the order they came. */
  async #flush(): Promise<void> {
    const first = this.#waiting.shift();
    if (first === undefined) return;
    const batch = [first];
    while (this.#waiting[0] !== undefined && this.#waiting[0].right?.t === first.right?.t) {
      batch.push(this.#waiting.shift() as Waiting);
    }
    try {
      await this.#commit(batch);
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    let change: Change = "none";
    const right = batch[0]?.right ?? null;
    if (this.#refusal !== undefined) throw this.#refusal;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#check();
      const { mend, drafts } = await this.#draft(batch);
      if (drafts.length === 0) return;
      const written = [...mend, ...drafts.flatMap((draft) => draft.write)];
      const sync = this.#mustSync(drafts, written);
      const outcome = await this.#store(written, right, sync);
      if (outcome.kind === "stale_turn") throw new SessionError("stale_turn", { t: outcome.t, session: this.id });
      if (outcome.kind === "behind") {
        change = worse(change, await this.#takeIn(outcome.reading, right));
        if (change === "stale_turn") throw new SessionError("stale_turn", { t: "newer", session: this.id });
        continue;
      }
      await this.#ground.advance(outcome.entries, outcome.position, outcome.end);
      this.#tell(outcome.entries, sync, true);
      const byId = new Map(outcome.entries.map((entry) => [entry.id, entry]));
      for (const { one, result } of drafts) {
        one.resolve({ entries: result.map((entry) => byId.get(entry.id) ?? (entry as Entry)), durable: sync, change });
      }
      return;
    }
    throw new SessionError("lock_timeout", { file: this.#parts.log.file, holder: "other writers", timeoutMs: 0 });
  }

  /** Drafts everybody's entries on the present ground; who cannot be drafted is refused and leaves no trace. */
  async #draft(batch: readonly Waiting[]): Promise<Drafted> {
    const { world } = this.#parts;
    const ground = await this.#ground.forDraft(batch.flatMap((one) => one.entries));
    const nowIso = new Date(world.nowMs()).toISOString();
    const drafting = new Drafting({ ...ground, session: this.id, nowIso, newId: () => world.newId("entry") });
    const drafts = batch.flatMap((one) => {
      try {
        return [{ ...drafting.add(one.entries), one }];
      } catch (error) {
        one.reject(error);
        return [];
      }
    });
    return { mend: drafting.mend, drafts };
  }

  /** What is found instead of written may be somebody's unsynced line: then it is synced now. */
  #mustSync(drafts: Drafted["drafts"], written: readonly Unstamped[]): boolean {
    const forced = drafts.some(({ one, write }) => one.sync || write.length === 0);
    return needsSync(this.#parts.fsync, written as readonly Entry[], forced && this.#parts.fsync !== "never");
  }

  async #store(entries: readonly Unstamped[], right: Right | null, sync: boolean) {
    const { store, log } = this.#parts;
    try {
      return await store.commit({ log, expect: this.#ground.position, entries, sync, ...(right ? { right } : {}) });
    } catch (error) {
      // What a failed sync left in memory proves nothing about the disk: nobody builds on it.
      if (error instanceof SessionError && error.details.step === "sync") this.#broken = error;
      throw error;
    }
  }

  /** Takes in what others did. Throws `rewritten`, `gone`; afterwards nothing is written through this object. */
  async #takeIn(reading: Reading | undefined, right: Right | null): Promise<Change> {
    if (reading === undefined) return this.#break("gone");
    await using now = reading;
    if (now.since === "rewritten") return this.#break("rewritten");
    const known = { leaf: this.leaf(), t: right?.t ?? null };
    const added = await this.#ground.catchUp(now);
    const change = classify(known, added, this.leaf());
    if (change === "gone") return this.#break("gone");
    if (added.length > 0) this.#tell(added, false, false);
    return change === "none" && now.since === "moved" ? "moved" : change;
  }

  #break(code: "gone" | "rewritten"): never {
    this.#broken = new SessionError(code, { file: this.#parts.log.file });
    throw this.#broken;
  }

  #tell(entries: readonly Entry[], durable: boolean, own: boolean): void {
    if (entries.length === 0) return;
    for (const listener of this.#listeners) listener({ entries, durable, leaf: this.leaf(), own });
  }
}

const ORDER: readonly Change[] = ["none", "harmless", "moved", "turn", "compacted", "branch", "stale_turn"];

/** Of two changes that were met one after the other, the one that matters more to the caller. */
function worse(a: Change, b: Change): Change {
  return ORDER.indexOf(b) > ORDER.indexOf(a) ? b : a;
}
