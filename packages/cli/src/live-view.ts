/**
 * A conversation as it appears in the terminal: streamed text, finished answers, one line per tool result.
 * Invariant: text that was streamed is not printed again when its entry arrives.
 */
import { isObject } from "@holdfast/base";
import type { WireEvent } from "@holdfast/gateway/wire";
import type { Entry } from "@holdfast/sessions";
import { type Output, printable } from "./output.ts";

type Delta = Extract<WireEvent, { type: "delta" }>;

export class LiveView {
  readonly #output: Output;
  /** Answers whose text was streamed so far. */
  readonly #streamed = new Set<string>();
  #atLineStart = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** A piece of an answer that is being written; not durable yet. */
  delta({ answerId, delta }: Delta): void {
    if (delta.kind !== "text" || delta.text === "") return;
    this.#streamed.add(answerId);
    this.#output.write(printable(delta.text));
    this.#atLineStart = delta.text.endsWith("\n");
  }

  /** The streamed text does not count; the answer is asked for again. */
  withdrawn(answerId: string): void {
    if (this.#streamed.delete(answerId)) this.aside("(withdrawn; asking again)");
  }

  /** The connection broke: text that has not become an entry was provisional, and will be said anew. */
  lost(): void {
    this.#streamed.clear();
    this.aside("(the gateway is gone; waiting for it; an answer that was not finished begins again)");
  }

  failed(why: string): void {
    this.#line(this.#output.paint.red(printable(why)));
  }

  aside(text: string): void {
    this.#line(this.#output.paint.dim(text));
  }

  /** A transcript entry: answers and tool results are shown, the rest is not. */
  entry(entry: Entry): void {
    const message = "message" in entry && isObject(entry.message) ? entry.message : undefined;
    if (message === undefined) return;
    if (message.role === "assistant") this.#answer(entry.id, message.content);
    else if (message.role === "toolResult") this.aside(resultLine(message));
  }

  #answer(id: string, content: unknown): void {
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
