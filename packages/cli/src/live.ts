/**
 * One conversation as it happens: follows the event stream and prints what is new, once.
 * Invariants: text that was streamed is not printed again when its entry arrives; after a lost connection the snapshot decides
 * whether a message was answered, never a guess.
 */
import { isObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import type { WireEvent, WireItem } from "@holdfast/gateway/wire";
import type { GatewayClient } from "./client.ts";
import { type Output, printable } from "./output.ts";

type Delta = Extract<WireEvent, { type: "delta" }>;

export class Live {
  readonly #client: GatewayClient;
  readonly #key: string;
  readonly #output: Output;
  readonly #stop = new AbortController();
  /** By the key a message was sent under. */
  readonly #waiting = new Map<string, (item: WireItem) => void>();
  /** Answers whose text was streamed so far. */
  readonly #streamed = new Set<string>();
  #atLineStart = true;

  constructor(client: GatewayClient, key: string, output: Output) {
    this.#client = client;
    this.#key = key;
    this.#output = output;
  }

  /** Follows until `close`; reconnects by itself when the stream ends. Rejects when the gateway is gone. */
  async follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const snapshot = await this.#client.snapshot(this.#key);
      for (const item of snapshot.items) this.#onItem(item);
      await this.#readStream(snapshot.cursor);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** Sends one message and resolves when it is answered or failed. */
  async say(text: string, clientKey: string): Promise<WireItem> {
    const ended = new Promise<WireItem>((resolve) => this.#waiting.set(clientKey, resolve));
    await this.#client.accept(this.#key, text, clientKey);
    return ended;
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
    else if (event.type === "delta") this.#onDelta(event);
    else if (event.type === "entries") for (const entry of event.entries) this.#onEntry(entry);
    else if (event.type === "withdrawn" && this.#streamed.delete(event.answerId))
      this.#line("(withdrawn; asking again)");
  }

  #onItem(item: WireItem): void {
    if (item.clientKey === null || (item.state !== "done" && item.state !== "failed")) return;
    const resolve = this.#waiting.get(item.clientKey);
    this.#waiting.delete(item.clientKey);
    if (item.state === "failed" && resolve !== undefined)
      this.#line(this.#output.paint.red(item.failure ?? "It failed."));
    resolve?.(item);
  }

  #onDelta({ answerId, delta }: Delta): void {
    if (delta.kind !== "text" || delta.text === "") return;
    this.#streamed.add(answerId);
    this.#output.write(printable(delta.text));
    this.#atLineStart = delta.text.endsWith("\n");
  }

  #onEntry(entry: Entry): void {
    const message = "message" in entry && isObject(entry.message) ? entry.message : undefined;
    if (message === undefined) return;
    if (message.role === "assistant") this.#onAnswer(entry.id, message.content);
    else if (message.role === "toolResult") this.#line(this.#output.paint.dim(resultLine(message)));
  }

  #onAnswer(id: string, content: unknown): void {
    const text = textOf(content);
    if (this.#streamed.delete(id)) this.#line();
    else if (text !== "") this.#line(printable(text));
  }

  #line(text = ""): void {
    if (!this.#atLineStart) this.#output.write("\n");
    this.#atLineStart = true;
    if (text !== "") this.#output.line(text);
  }
}

function textOf(content: unknown): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : [])).join("\n");
}

/** `✓ read: first line of what it gave` */
function resultLine(message: Readonly<Record<string, unknown>>): string {
  const first = textOf(message.content).split("\n", 1)[0] ?? "";
  const short = first.length > 70 ? `${first.slice(0, 69)}…` : first;
  return printable(`  ${message.isError === true ? "✗" : "✓"} ${String(message.toolName)}: ${short}`);
}
