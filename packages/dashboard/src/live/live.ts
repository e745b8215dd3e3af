/**
 * One session as the page holds it: followed, and sent to.
 * Invariant: a message that was sent is kept (also across a reload) until the gateway has said that it is durable there.
 */
import { Board, type View } from "./board.ts";
import { follow } from "./follow.ts";
import type { Outside } from "./outside.ts";
import { sendAll } from "./send.ts";
import type { Outgoing } from "./state.ts";

export class Live {
  readonly key: string;
  readonly #board: Board;
  readonly #end = new AbortController();
  #rounds: Promise<void> = Promise.resolve();

  constructor(key: string, outside: Outside) {
    this.key = key;
    this.#board = new Board(key, outside);
  }

  /** Begins to follow and to send what was left. Call once. */
  start(): void {
    void follow(this.#board, this.#end.signal);
    this.#sendAll();
  }

  /** Ends everything; a message not yet accepted stays kept for the next time. */
  close(): void {
    this.#end.abort();
  }

  /** The present view: a new object after every change, the same one between changes. */
  readonly view = (): View => this.#board.view;

  readonly subscribe = (listener: () => void): (() => void) => this.#board.subscribe(listener);

  send(text: string): void {
    const { newKey, clock } = this.#board.outside;
    this.#queue({ clientKey: newKey(), text, at: clock.nowMs(), refusal: null });
  }

  /** Sends a refused message once more, under its old key. */
  resend(outgoing: Outgoing): void {
    this.#queue({ ...outgoing, refusal: null });
  }

  /** Gives up a message that the gateway does not have. */
  discard(clientKey: string): void {
    this.#board.apply({ type: "discarded", clientKey });
  }

  /** Does not wait for the next attempt to reach the gateway. */
  tryNow(): void {
    this.#board.tryNow();
  }

  /** Fetches the page before the oldest known entry. */
  async older(): Promise<void> {
    const before = this.#board.view.state.more;
    if (before === null) return;
    const got = await this.#board.outside.api.snapshot(this.key, before);
    if (got.kind === "ok") this.#board.apply({ type: "older", before, snapshot: got.value });
  }

  #queue(outgoing: Outgoing): void {
    this.#board.apply({ type: "queued", outgoing });
    this.#sendAll();
  }

  /** Each round begins after the one before, so only one sends and none is forgotten. */
  #sendAll(): void {
    this.#rounds = this.#rounds.then(() => sendAll(this.#board, this.#end.signal));
  }
}
