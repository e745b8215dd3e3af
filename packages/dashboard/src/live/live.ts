/**
 * One session, followed: snapshot, then events, then again after every cut; and one's own messages, sent until accepted.
 * Invariant: a message that was typed and sent is kept (also across a reload) until the gateway has said that it is
 * durable there; it is always sent under the same key, so repeating it cannot run it twice.
 */
import type { Outcome, Outside, StreamReader } from "./outside.ts";
import { keepOutgoing, keptOutgoing } from "./outbox.ts";
import { apply, emptyState, type LiveEvent, type LiveState, type Outgoing } from "./state.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline" | "signed-out";

export interface View {
  readonly state: LiveState;
  readonly connection: Connection;
  /** Why the session cannot be shown at all, in the gateway's words. */
  readonly refusal: string | null;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Waits longer each time, until `reset`. */
class Backoff {
  #next = FIRST_PAUSE_MS;

  reset(): void {
    this.#next = FIRST_PAUSE_MS;
  }

  async pause(outside: Outside, signal: AbortSignal): Promise<void> {
    const ms = this.#next;
    this.#next = Math.min(ms * 2, LONGEST_PAUSE_MS);
    await outside.clock.pause(ms, signal);
  }
}

export class Live {
  readonly key: string;
  readonly #outside: Outside;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  #view: View;
  #sending = false;

  constructor(key: string, outside: Outside) {
    this.key = key;
    this.#outside = outside;
    this.#view = {
      state: { ...emptyState, outgoing: keptOutgoing(outside.keep, key) },
      connection: "connecting",
      refusal: null,
    };
  }

  /** Begins to follow and to send what was left. Call once. */
  start(): void {
    void this.#follow();
    void this.#sendAll();
  }

  /** Ends everything; a message not yet accepted stays kept for the next time. */
  close(): void {
    this.#end.abort();
    this.#listeners.clear();
  }

  /** The present view: a new object after every change, the same one between changes. */
  readonly view = (): View => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  send(text: string): void {
    this.#queue({ clientKey: this.#outside.newKey(), text, at: this.#outside.clock.nowMs(), refusal: null });
  }

  /** Sends a refused message once more, under its old key. */
  resend(outgoing: Outgoing): void {
    this.#queue({ ...outgoing, refusal: null });
  }

  /** Gives up a message that the gateway does not have. */
  discard(clientKey: string): void {
    this.#apply({ type: "discarded", clientKey });
  }

  /** Fetches the page before the oldest known entry. */
  async older(): Promise<void> {
    const before = this.#view.state.more;
    if (before === null) return;
    const got = await this.#outside.api.snapshot(this.key, before);
    if (got.kind === "ok") this.#apply({ type: "older", before, snapshot: got.value });
  }

  async #follow(): Promise<void> {
    const backoff = new Backoff();
    while (!this.#end.signal.aborted && this.#view.connection !== "signed-out") {
      if (this.#view.state.stale && !(await this.#fetchSnapshot(backoff))) continue;
      const opened = await this.#listen(backoff);
      if (this.#end.signal.aborted) return;
      if (this.#view.state.stale && opened) continue;
      // A refused stream does not say why; the snapshot does.
      if (!opened) this.#change({ state: { ...this.#view.state, stale: true } });
      this.#change({ connection: this.#away() });
      await backoff.pause(this.#outside, this.#end.signal);
    }
  }

  /** True when the state is fresh; else it has waited, or `connection` says that waiting is pointless. */
  async #fetchSnapshot(backoff: Backoff): Promise<boolean> {
    const got = await this.#outside.api.snapshot(this.key, null);
    if (this.#end.signal.aborted) return false;
    if (got.kind === "ok") {
      this.#change({ refusal: null });
      this.#apply({ type: "snapshot", snapshot: got.value });
      return true;
    }
    this.#noteFailure(got);
    if (got.kind !== "signed-out") await backoff.pause(this.#outside, this.#end.signal);
    return false;
  }

  /** Listens until the stream ends or the state is stale. False: it never opened. */
  #listen(backoff: Backoff): Promise<boolean> {
    return new Promise((resolve) => {
      let opened = false;
      const stop = (): void => {
        close();
        this.#end.signal.removeEventListener("abort", stop);
        resolve(opened);
      };
      const reader: StreamReader = {
        opened: () => {
          opened = true;
          backoff.reset();
          this.#change({ connection: "live" });
        },
        event: (id, event) => {
          this.#apply({ type: "wire", id, event });
          if (this.#view.state.stale) stop();
        },
        ended: () => stop(),
      };
      const close = this.#outside.api.stream(this.key, this.#view.state.cursor, reader);
      this.#end.signal.addEventListener("abort", stop, { once: true });
    });
  }

  #queue(outgoing: Outgoing): void {
    this.#apply({ type: "queued", outgoing });
    void this.#sendAll();
  }

  /** One after the other, so that messages arrive in the order in which they were written. */
  async #sendAll(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    const backoff = new Backoff();
    for (let next = this.#nextOutgoing(); next !== undefined; next = this.#nextOutgoing()) {
      const got = await this.#outside.api.send(this.key, next.text, next.clientKey);
      if (got.kind === "ok") this.#apply({ type: "accepted", clientKey: next.clientKey, item: got.value.item });
      else if (got.kind === "refused") {
        this.#apply({ type: "refused", clientKey: next.clientKey, message: got.message });
      } else {
        if (got.kind === "signed-out") this.#change({ connection: "signed-out" });
        await backoff.pause(this.#outside, this.#end.signal);
      }
    }
    this.#sending = false;
  }

  #nextOutgoing(): Outgoing | undefined {
    if (this.#end.signal.aborted || this.#view.connection === "signed-out") return undefined;
    return this.#view.state.outgoing.find((out) => out.refusal === null);
  }

  #noteFailure(got: Exclude<Outcome<unknown>, { kind: "ok" }>): void {
    if (got.kind === "signed-out") this.#change({ connection: "signed-out" });
    else if (got.kind === "refused") this.#change({ connection: "reconnecting", refusal: got.message });
    else this.#change({ connection: this.#away() });
  }

  #away(): Connection {
    return this.#outside.clock.online() ? "reconnecting" : "offline";
  }

  #apply(event: LiveEvent): void {
    const before = this.#view.state;
    const state = apply(before, event);
    if (state.outgoing !== before.outgoing) keepOutgoing(this.#outside.keep, this.key, state.outgoing);
    if (state !== before) this.#change({ state });
  }

  #change(part: Partial<View>): void {
    this.#view = { ...this.#view, ...part };
    for (const listener of this.#listeners) listener();
  }
}
