/**
 * Writes to one log: drafts what waits on the ground as it is known, commits, and does it again when others were faster.
 *
 * A commit is compare-and-set on our position: if the log moved on, what was added is taken in and classified first.
 * Invariant: nothing is written on ground that was not read; after a break (rewritten, gone, failed sync) nothing is
 * written at all until the session is opened anew.
 */
import type { World } from "@holdfast/base";
import type { Waiting } from "./append-queue.ts";
import { classify } from "./changes.ts";
import { type Draft, Drafting } from "./draft.ts";
import { type Entry, isCustom } from "./entry.ts";
import { SessionError } from "./errors.ts";
import type { Ground } from "./ground.ts";
import { needsSync } from "./policy.ts";
import { CURRENT_VERSION } from "./reading/header.ts";
import type { LogRef, LogStore, Reading, Unstamped } from "./store.ts";
import type { Change, Fsync, Right, SessionListener } from "./types.ts";

export interface WriterParts {
  readonly log: LogRef;
  readonly store: LogStore;
  readonly world: World;
  readonly fsync: Fsync;
  /** Why nothing can be written through this object, though the log can be read. */
  readonly refusal?: SessionError;
}

/** Everybody's entries on one ground: those to write, and who is refused if this ground turns out to be the real one. */
interface Drafted {
  readonly written: readonly Unstamped[];
  readonly sync: boolean;
  readonly drafts: readonly (Draft & { readonly one: Waiting })[];
  readonly refused: readonly { readonly one: Waiting; readonly error: unknown }[];
}

/** Rounds of one commit before it is given up: others write faster than we can read. */
const ROUNDS_MAX = 200;

export class Writer {
  readonly #parts: WriterParts;
  readonly #ground: Ground;
  readonly #refusal: SessionError | undefined;
  readonly listeners = new Set<SessionListener>();
  #broken: SessionError | undefined;

  constructor(parts: WriterParts, ground: Ground) {
    this.#parts = parts;
    this.#ground = ground;
    this.#refusal = parts.refusal ?? refusalOf(ground, parts.log);
  }

  /** False once nothing more can be written through this object. */
  get isUsable(): boolean {
    return this.#broken === undefined && this.#parts.refusal === undefined;
  }

  /** The log was put away before it was read. */
  get isPutAway(): boolean {
    return this.#refusal?.code === "gone";
  }

  /** From now on everything is `closed`. */
  end(): void {
    this.#broken ??= new SessionError("closed");
    this.listeners.clear();
  }

  /** One commit for all callers of the batch, who share one right. */
  async write(batch: readonly Waiting[]): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const right = batch[0]?.right ?? null;
    let change: Change = "none";
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#check();
      const drafted = await this.#draft(batch);
      const outcome = await this.#commit(drafted, right);
      if (outcome.kind === "stale_turn") throw this.#staleTurn(outcome.t);
      if (outcome.kind === "committed") {
        await this.#ground.advance(outcome.entries, outcome.position, outcome.end);
        this.#tell(outcome.entries, drafted.sync, true);
        answer(drafted, outcome.entries, change);
        return;
      }
      change = graver(change, await this.#takeIn(outcome.reading, right));
      if (change === "stale_turn") throw this.#staleTurn("newer");
    }
    throw new SessionError("lock_timeout", { path: this.#parts.log.file, holder: "other writers", timeoutMs: "any" });
  }

  /** Reads what others added. */
  async catchUp(): Promise<Change> {
    this.#check();
    const { store, log } = this.#parts;
    return this.#takeIn(await store.read(log, this.#ground.position), null);
  }

  #check(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  async #draft(batch: readonly Waiting[]): Promise<Drafted> {
    const { world, log, fsync } = this.#parts;
    const ground = await this.#ground.forDraft(batch.flatMap((one) => one.entries));
    const nowIso = new Date(world.nowMs()).toISOString();
    const drafting = new Drafting({ ...ground, session: log.id, nowIso, newId: () => world.newId("entry") });
    const drafts: (Draft & { one: Waiting })[] = [];
    const refused: { one: Waiting; error: unknown }[] = [];
    for (const one of batch) {
      try {
        drafts.push({ ...drafting.add(one.entries), one });
      } catch (error) {
        refused.push({ one, error });
      }
    }
    const own = drafts.flatMap((draft) => draft.write);
    const written = own.length > 0 ? [...drafting.mend, ...own] : [];
    // What is found instead of written may be somebody's unsynced line: then it is synced now.
    const found = fsync !== "never" && drafts.some(({ write }) => write.length === 0);
    const forced = found || drafts.some(({ one }) => one.sync);
    return { written, sync: needsSync(fsync, written as readonly Entry[], forced), drafts, refused };
  }

  /** With nothing to write the commit still tells whether the ground was the real one. */
  async #commit({ written, sync }: Drafted, right: Right | null) {
    const { store, log } = this.#parts;
    const request = { log, expect: this.#ground.position, entries: written, sync };
    try {
      return await store.commit(right === null ? request : { ...request, right });
    } catch (error) {
      // What a failed sync left in memory proves nothing about the disk: nobody builds on it.
      // Nor does what a writer put down that had lost its lock meanwhile.
      const isDoubtful =
        error instanceof SessionError && (error.code === "stale_fence" || error.details.step === "sync");
      if (isDoubtful) this.#broken = error;
      throw error;
    }
  }

  /** Takes in what others did. Throws `rewritten`, `gone`; afterwards nothing is written through this object. */
  async #takeIn(reading: Reading | undefined, right: Right | null): Promise<Change> {
    if (reading === undefined) return this.#break("gone");
    await using now = reading;
    if (now.since === "rewritten") return this.#break("rewritten");
    const known = { leaf: this.#ground.leaf, t: right?.t ?? null };
    const added = await this.#ground.catchUp(now);
    const change = classify(known, added, this.#ground.leaf);
    if (change === "gone") return this.#break("gone");
    this.#tell(added, false, false);
    return change === "none" && now.since === "moved" ? "moved" : change;
  }

  #break(code: "gone" | "rewritten"): never {
    this.#broken = new SessionError(code, { path: this.#parts.log.file });
    throw this.#broken;
  }

  #staleTurn(t: number | string): SessionError {
    return new SessionError("stale_turn", { t, session: this.#parts.log.id });
  }

  #tell(entries: readonly Entry[], durable: boolean, own: boolean): void {
    if (entries.length === 0) return;
    const event = { entries, durable, leaf: this.#ground.leaf, own };
    for (const listener of this.listeners) listener(event);
  }
}

/** Why nothing may be appended to this log, although it may be read: it was put away, or its version is only read. */
function refusalOf(ground: Ground, log: LogRef): SessionError | undefined {
  const { path, version } = ground.loaded;
  if (version !== CURRENT_VERSION) return new SessionError("read_only_version", { path: log.file, version });
  const last = path.findLast((entry) => isCustom(entry, "holdfast:closed") || isCustom(entry, "holdfast:opened"));
  const isClosed = last !== undefined && isCustom(last, "holdfast:closed");
  return isClosed ? new SessionError("gone", { path: log.file }) : undefined;
}

/** Tells everybody in a batch what became of their entries. */
function answer({ drafts, refused, sync }: Drafted, stamped: readonly Entry[], change: Change): void {
  const byId = new Map(stamped.map((entry) => [entry.id, entry]));
  for (const { one, result } of drafts) {
    one.resolve({ entries: result.map((entry) => byId.get(entry.id) ?? (entry as Entry)), durable: sync, change });
  }
  for (const { one, error } of refused) one.reject(error);
}

const ORDER: readonly Change[] = ["none", "harmless", "moved", "turn", "compacted", "branch", "stale_turn"];

/** Of two changes that were met one after the other, the one that matters more to the caller. */
function graver(a: Change, b: Change): Change {
  return ORDER.indexOf(b) > ORDER.indexOf(a) ? b : a;
}
