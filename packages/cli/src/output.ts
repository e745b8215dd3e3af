/**
 * Everything the command line says goes through here: results on stdout, all else on stderr.
 * Invariants: with --json exactly one JSON value (or, where documented, one per line) is written to stdout; a reader that
 * went away ends the output, never the work that was begun.
 */
import { errnoOf } from "@holdfast/base";

/** The part of a writable stream that is used; tests pass their own. */
export interface Sink {
  write(text: string | Uint8Array, done?: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  /** Of a terminal: cells of a line. */
  readonly columns?: number;
}

export type Paint = (text: string) => string;
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

function palette(on: boolean): Palette {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

const DEFAULT_WIDTH = 80;

type Env = Readonly<Record<string, string | undefined>>;

/** Colour only for people: a terminal that did not ask for none (https://no-color.org). */
function wantsColour(sink: Sink, env: Env): boolean {
  return sink.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

/** Stored text is data: control characters must not steer somebody's terminal. Tabs and line ends stay. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (found) => {
    return `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

export class Output {
  readonly json: boolean;
  readonly paint: Palette;
  readonly #out: Sink;
  readonly #err: () => Sink;
  #errOpen: Sink | undefined;
  #closed = false;

  /** `err` is called when there is something to say: opening a stream costs milliseconds that most runs can save. */
  constructor(out: Sink, err: () => Sink, env: Env, json: boolean) {
    this.json = json;
    this.paint = palette(wantsColour(out, env) && !json);
    this.#out = out;
    this.#err = err;
    out.on("error", (error) => {
      if (errnoOf(error) !== "EPIPE") throw error;
      this.#closed = true;
    });
  }

  /** True once the reader of stdout is gone; what is written after that is dropped. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Cells of a line that people see at once; no limit where nobody looks. */
  get width(): number {
    return this.#out.isTTY === true ? (this.#out.columns ?? DEFAULT_WIDTH) : Number.POSITIVE_INFINITY;
  }

  /** The result of the command: `value` with --json, else the text for people. */
  result(value: unknown, text: (paint: Palette) => string): void {
    this.write(this.json ? `${JSON.stringify(value)}\n` : ended(text(this.paint)));
  }

  /** One JSON value on a line of its own, whoever reads. */
  jsonLine(value: unknown): void {
    this.write(`${JSON.stringify(value)}\n`);
  }

  /** A line for people on stdout; nothing with --json. */
  line(text = ""): void {
    if (!this.json) this.write(ended(text));
  }

  /** To stderr, always. */
  note(text: string): void {
    this.#errOpen ??= this.#openErr();
    this.#errOpen.write(ended(text));
  }

  /** Raw text on stdout. */
  write(text: string): void {
    if (!this.#closed) this.#out.write(text);
  }

  /** A piece of a document of any length on stdout; resolves when there is room for the next. */
  async stream(piece: string | Uint8Array): Promise<void> {
    if (!this.#closed) await new Promise<void>((resolve) => this.#out.write(piece, () => resolve()));
  }

  /** Nobody may be reading it, which is no reason to stop. */
  #openErr(): Sink {
    const err = this.#err();
    err.on("error", (error) => {
      if (errnoOf(error) !== "EPIPE") throw error;
    });
    return err;
  }
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
