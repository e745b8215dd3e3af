/** What is typed, with a terminal and without one; and leaving at any time. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Prompt } from "../src/prompt.ts";

function typed({ terminal = true } = {}): { prompt: Prompt; input: PassThrough; shown: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const prompt = new Prompt({ input, terminal: terminal ? output : null, prompt: "> " });
  return { prompt, input, shown: () => String(output.read() ?? "") };
}

test("lines without their blanks; the prompt only on a terminal", async () => {
  for (const terminal of [true, false]) {
    const { prompt, input, shown } = typed({ terminal });
    input.end("  one \n\n  two\n");
    expect(await Array.fromAsync(prompt.lines())).toEqual(["one", "two"]);
    expect(shown().includes("> ")).toBe(terminal);
  }
});

test.each([
  ["Ctrl-C", "\u0003", true],
  ["Ctrl-D", "\u0004", false],
])("%s while a line is being worked on ends it, and nothing fails", async (_name, key, leaves) => {
  const { prompt, input } = typed();
  const lines = prompt.lines();
  input.write("one\r");
  expect(await lines.next()).toEqual({ value: "one", done: false });
  input.write(key);
  if (leaves) expect(await prompt.left).toBe("left");
  expect(await lines.next()).toEqual({ value: undefined, done: true });
});

test("Ctrl-C while it waits ends it", async () => {
  const { prompt, input } = typed();
  const next = prompt.lines().next();
  input.write("\u0003");
  expect([await prompt.left, await next]).toEqual(["left", { value: undefined, done: true }]);
});
