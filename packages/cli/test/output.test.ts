/** One JSON value with --json, no control characters for terminals, and no crash when the reader is gone. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Output, printable } from "../src/output.ts";

class FakeSink extends EventEmitter {
  text = "";
  isTTY: boolean;
  constructor(isTTY = false) {
    super();
    this.isTTY = isTTY;
  }
  write(text: string): void {
    this.text += text;
  }
}

function make(
  json: boolean,
  tty = false,
  env: Record<string, string> = {},
): { out: FakeSink; err: FakeSink; output: Output } {
  const [out, err] = [new FakeSink(tty), new FakeSink(tty)];
  return { out, err, output: new Output(out, () => err, env, json) };
}

test("with --json only the value is written to stdout", () => {
  const { out, err, output } = make(true);
  output.line("for people");
  output.result({ a: 1 }, () => "for people");
  output.note("on the side");
  expect(out.text).toBe('{"a":1}\n');
  expect(err.text).toBe("on the side\n");
});

test("colour needs a terminal, and respects NO_COLOR and TERM=dumb", () => {
  const painted = (tty: boolean, env: Record<string, string>): string => make(false, tty, env).output.paint.red("x");
  expect(painted(true, {})).toBe("\u001b[31mx\u001b[39m");
  for (const plain of [painted(false, {}), painted(true, { NO_COLOR: "1" }), painted(true, { TERM: "dumb" })]) {
    expect(plain).toBe("x");
  }
});

test("a broken pipe ends the output quietly; any other error is thrown", () => {
  const { out, output } = make(false);
  out.emit("error", Object.assign(new Error("gone"), { code: "EPIPE" }));
  output.line("more");
  expect(output.closed).toBe(true);
  expect(out.text).toBe("");
  expect(() => out.emit("error", Object.assign(new Error("disk"), { code: "EIO" }))).toThrow("disk");
});

test("nobody reading stderr is no reason to stop", () => {
  const { err, out, output } = make(false);
  output.note("a");
  err.emit("error", Object.assign(new Error("gone"), { code: "EPIPE" }));
  output.line("b");
  expect(output.closed).toBe(false);
  expect(out.text).toBe("b\n");
});

test("stored text cannot steer a terminal", () => {
  expect(printable("a\u001b[2Jb\tc\nd\u0007\u009b")).toBe("a\\x1b[2Jb\tc\nd\\x07\\x9b");
});
