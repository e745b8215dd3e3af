/** Where the present view of a session stands, for everyone who changes or shows it. */
import { keepOutgoing, keptOutgoing } from "./outbox.ts";
import type { Outcome, Outside } from "./outside.ts";
import { apply, emptyState, type LiveEvent, type LiveState } from "./state.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline" | "signed-out";

export interface View {
  readonly state: LiveState;
  readonly connection: Connection;
  /** Why the session cannot be shown at all, in the gateway's words. */
  readonly refusal: string | null;
}

export class Board {
  readonly key: string;
  readonly outside: Outside;
  readonly #listeners = new Set<() => void>();
  #view: View;
  #hurry = new AbortController();

  constructor(key: string, outside: Outside) {
    this.key = key;
    this.outside = outside;
    const state = { ...emptyState, outgoing: keptOutgoing(outside.keep, key) };
    this.#view = { state, connection: "connecting", refusal: null };
  }

  /** A new object after every change, the same one between changes. */
  get view(): View {
    return this.#view;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(part: Partial<View>): void {
    this.#view = { ...this.#view, ...part };
    for (const listener of this.#listeners) listener();
  }

  /** Takes in what happened. What is still to be sent is kept before anybody is told. */
  apply(event: LiveEvent): void {
    const before = this.#view.state;
    const state = apply(before, event);
    if (state.outgoing !== before.outgoing) keepOutgoing(this.outside.keep, this.key, state.outgoing);
    if (state !== before) this.change({ state });
  }

  /** Aborts when somebody does not want to wait for the next attempt. */
  readonly hurry = (): AbortSignal => this.#hurry.signal;

  /** Tries again now. */
  tryNow(): void {
    this.#hurry.abort();
    this.#hurry = new AbortController();
  }

  /** The connection is gone; says which way. */
  lost(): void {
    this.change({ connection: this.outside.clock.online() ? "reconnecting" : "offline" });
  }

  /** The session could not be fetched; says why. */
  failed(got: Exclude<Outcome<unknown>, { kind: "ok" }>): void {
    if (got.kind === "signed-out") this.change({ connection: "signed-out" });
    else if (got.kind === "refused") this.change({ connection: "reconnecting", refusal: got.message });
    else this.lost();
  }
}
