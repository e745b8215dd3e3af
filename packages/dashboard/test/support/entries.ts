/** Entries of a transcript for tests: a chain in which each entry hangs on the one before. */
import type { Entry } from "../../src/live/path.ts";

const START_MS = Date.UTC(2026, 5, 21, 13, 0, 0);

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Makes entries with fixed ids (`e1`, `e2`, ... or the one given) and times one second apart. */
export class Chain {
  #leaf: string | null;
  #count: number;
  readonly #startMs: number;

  constructor(leaf: string | null = null, count = 0, startMs: number = START_MS) {
    this.#leaf = leaf;
    this.#count = count;
    this.#startMs = startMs;
  }

  entry(fields: { readonly type: string; readonly [field: string]: unknown }): Entry {
    this.#count += 1;
    const timestamp = new Date(this.#startMs + this.#count * 1000).toISOString();
    const entry = { id: `e${this.#count}`, parentId: this.#leaf, timestamp, ...fields };
    this.#leaf = entry.id;
    return entry;
  }

  user(text: string, key?: string): Entry {
    return this.entry({ type: "message", message: { role: "user", content: [{ type: "text", text }], key } });
  }

  answer(text: string, extra: Readonly<Record<string, unknown>> = {}): Entry {
    const message = { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" };
    return this.entry({ type: "message", message, ...extra });
  }

  calls(...calls: readonly Call[]): Entry {
    const content = calls.map((call, index) => ({ type: "toolCall", id: `call-${index}`, ...call }));
    return this.entry({ type: "message", message: { role: "assistant", content, stopReason: "toolUse" } });
  }

  result(entryId: string, ordinal: number, text: string, extra: Readonly<Record<string, unknown>> = {}): Entry {
    const content = [{ type: "text", text }];
    const message = {
      role: "toolResult",
      toolCallId: `call-${ordinal}`,
      toolName: "",
      content,
      isError: false,
      ...extra,
    };
    return this.entry({ type: "message", message, call: { entryId, ordinal } });
  }

  intent(entryId: string, ordinal: number, attempt = 1): Entry {
    return this.entry({ type: "custom", customType: "holdfast:intent", data: { entryId, ordinal, attempt } });
  }
}
