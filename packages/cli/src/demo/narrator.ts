/** The demo's voice: numbered steps, who says what, facts in a column. Says nothing with --json. */
import type { Output, Paint } from "../output.ts";
import { printable } from "../output.ts";
import { widthOf, wrap } from "../table.ts";

const MARGIN = "     ";
const LABEL_WIDTH = 12;
const LINE_WIDTH = 96;

export class Narrator {
  readonly #output: Output;
  #step = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  title(text: string, below: string): void {
    const { bold, dim } = this.#output.paint;
    this.#output.line(`\n  ${bold(text)}`);
    if (below !== "") this.#output.line(`  ${dim(below)}`);
  }

  /** The next numbered step of the story. */
  step(text: string): void {
    this.#step += 1;
    const { bold, cyan } = this.#output.paint;
    this.#output.line(`\n  ${cyan(String(this.#step))}  ${bold(text)}`);
  }

  /** Somebody says something; long text is wrapped under its first line. */
  says(who: string, text: string): void {
    this.#labelled(who, text, this.#output.paint.cyan, (line) => line);
  }

  fact(name: string, text: string): void {
    this.#labelled(name, text, this.#output.paint.dim, (line) => line);
  }

  mark(name: string, text: string): void {
    this.#labelled(name, text, this.#output.paint.dim, this.#output.paint.yellow);
  }

  end(good: boolean, text: string): void {
    const { green, red, bold } = this.#output.paint;
    this.#output.line(`\n  ${good ? green("✓") : red("✗")}  ${bold(text)}\n`);
  }

  aside(text: string): void {
    this.#output.line(`  ${this.#output.paint.dim(text)}\n`);
  }

  #labelled(label: string, text: string, paintLabel: Paint, paintText: Paint): void {
    const padded = paintLabel(label) + " ".repeat(Math.max(1, LABEL_WIDTH - widthOf(label)));
    const hanging = MARGIN + " ".repeat(LABEL_WIDTH);
    const lines = wrap(printable(text), LINE_WIDTH - widthOf(hanging));
    for (const [index, line] of lines.entries()) {
      this.#output.line(`${index === 0 ? MARGIN + padded : hanging}${paintText(line)}`.trimEnd());
    }
  }
}
