/**
 * Lines that somebody types, one at a time, with a prompt where there is a terminal.
 * Invariant: Ctrl-C and Ctrl-D end it whenever they come, also while nobody reads; what is shown afterwards cannot fail.
 */
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export interface PromptOptions {
  readonly input: Readable;
  /** Where the prompt and what is typed appear; null: no terminal, so neither does. */
  readonly terminal: Writable | null;
  readonly prompt: string;
}

export class Prompt implements Disposable {
  readonly #reader: Interface;
  readonly #lines: AsyncIterable<string>;
  readonly #isTerminal: boolean;
  readonly #left = Promise.withResolvers<"left">();
  #closed = false;

  constructor({ input, terminal, prompt }: PromptOptions) {
    const shown = terminal === null ? {} : { output: terminal, terminal: true };
    this.#isTerminal = terminal !== null;
    this.#reader = createInterface({ input, ...shown, prompt });
    const lines = this.#reader[Symbol.asyncIterator](); // now: lines that come before anybody asks would be lost
    this.#lines = { [Symbol.asyncIterator]: () => lines };
    this.#reader.on("close", () => {
      this.#closed = true;
    });
    this.#reader.on("SIGINT", () => {
      this.#left.resolve("left");
      this.close();
    });
  }

  /** Resolves at Ctrl-C. */
  get left(): Promise<"left"> {
    return this.#left.promise;
  }

  /** Trimmed lines that are not empty, until the input ends or `close`. */
  async *lines(): AsyncGenerator<string> {
    this.#show();
    for await (const line of this.#lines) {
      const text = line.trim();
      if (text !== "") yield text;
      this.#show();
    }
  }

  close(): void {
    if (!this.#closed) this.#reader.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #show(): void {
    if (this.#isTerminal && !this.#closed) this.#reader.prompt();
  }
}

/** A question on the terminal; anything but a yes is a no. */
export async function ask(question: string): Promise<boolean> {
  using prompt = new Prompt({ input: process.stdin, terminal: process.stderr, prompt: question });
  for await (const line of prompt.lines()) return /^(y|yes|j|ja|是)$/i.test(line);
  return false;
}
