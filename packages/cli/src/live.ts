/**
 * One conversation as it happens: follows the event stream, and across a restart of the gateway goes on where it was.
 * Invariant: every entry is shown once, and after a lost connection the snapshot decides whether a message was answered,
 * never a guess.
 */
import { CodedError, type World } from "@holdfast/base";
import type { WireEvent, WireItem, WireSnapshot } from "@holdfast/gateway/wire";
import type { GatewayClient } from "./client.ts";
import type { CommandContext } from "./context.ts";
import { LiveView } from "./live-view.ts";

/** Half a minute in all: a restart takes a few seconds. */
const RECONNECTS_MAX = 60;
const RECONNECT_MS = 500;

export class Live {
  readonly #world: World;
  readonly #client: GatewayClient;
  readonly #key: string;
  readonly #view: LiveView;
  readonly #stop = new AbortController();
  /** By the key a message was sent under. */
  readonly #waiting = new Map<string, (item: WireItem) => void>();
  /** The newest entry that was taken in; undefined before the first snapshot. */
  #last: string | undefined;
  #accepted = false;

  constructor(client: GatewayClient, key: string, { output, world }: Pick<CommandContext, "output" | "world">) {
    this.#world = world;
    this.#client = client;
    this.#key = key;
    this.#view = new LiveView(output);
  }

  /**
   * Follows until `close`. A gateway that restarts is waited for; what was said meanwhile is printed then. Rejects when it
   * does not come back, or refuses.
   */
  async follow(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        await this.#takeIn(await this.#client.snapshot(this.#key));
        failures = 0;
      } catch (error) {
        failures += 1;
        if (this.#stop.signal.aborted) return;
        if (!isLostConnection(error) || failures > RECONNECTS_MAX) throw error;
        if (failures === 1) this.#view.lost();
        await this.#pause();
      }
    }
  }

  /** What is new in the snapshot, then the stream after it, to its end. */
  async #takeIn({ entries, items, cursor }: WireSnapshot): Promise<void> {
    const seen = this.#last === undefined ? entries.length - 1 : entries.findIndex((entry) => entry.id === this.#last);
    this.#onEntries(entries.slice(seen + 1));
    this.#last ??= entries.at(-1)?.id ?? "";
    for (const item of items) this.#onItem(item);
    await this.#readStream(cursor);
  }

  /** Ends following, and asking the gateway to take a message. */
  close(): void {
    this.#stop.abort();
  }

  /** Whether the gateway has the message that was said last. */
  get accepted(): boolean {
    return this.#accepted;
  }

  /** Sends one message and resolves when it is answered or failed. Repeated under its key until the gateway has it. */
  async say(text: string, clientKey: string): Promise<WireItem> {
    const ended = new Promise<WireItem>((resolve) => this.#waiting.set(clientKey, resolve));
    this.#accepted = false;
    for (let failures = 1; !this.#accepted && !this.#stop.signal.aborted; failures++) {
      this.#accepted = await this.#offer(text, clientKey, failures);
      if (!this.#accepted) await this.#pause();
    }
    return ended;
  }

  /** Until it is time to try again, or `close`. */
  async #pause(): Promise<void> {
    await this.#world.sleep(RECONNECT_MS, this.#stop.signal).catch(() => undefined);
  }

  async #offer(text: string, clientKey: string, failures: number): Promise<boolean> {
    try {
      await this.#client.accept(this.#key, text, clientKey, this.#stop.signal);
      return true;
    } catch (error) {
      if (!isLostConnection(error) || failures > RECONNECTS_MAX) throw error;
      return false;
    }
  }

  async #readStream(cursor: string): Promise<void> {
    try {
      for await (const event of this.#client.stream(this.#key, cursor, this.#stop.signal)) {
        if (event.type === "snapshot") return;
        this.#show(event);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  #show(event: WireEvent): void {
    if (event.type === "item") this.#onItem(event.item);
    else if (event.type === "delta") this.#view.delta(event);
    else if (event.type === "entries") this.#onEntries(event.entries);
    else if (event.type === "withdrawn") this.#view.withdrawn(event.answerId);
  }

  #onEntries(entries: WireSnapshot["entries"]): void {
    for (const entry of entries) {
      this.#last = entry.id;
      this.#view.entry(entry);
    }
  }

  #onItem(item: WireItem): void {
    if (item.clientKey === null || (item.state !== "done" && item.state !== "failed")) return;
    const resolve = this.#waiting.get(item.clientKey);
    this.#waiting.delete(item.clientKey);
    if (item.state === "failed" && resolve !== undefined) this.#view.failed(item.failure ?? "It failed.");
    resolve?.(item);
  }
}

/** A stream that broke off has no code; a refusal has the gateway's own. */
function isLostConnection(error: unknown): boolean {
  return !(error instanceof CodedError) || error.code === "gateway_unreachable";
}
