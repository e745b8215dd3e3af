/** Every thrown value becomes a code, a sentence and an exit code. */
import { CodedError } from "@holdfast/base";
import { expect, test } from "vitest";
import { CLI_ERRORS, CliError, coded, EXIT, exitCodeOf } from "../src/errors.ts";

test.each([
  ["usage", EXIT.usage],
  ["bad_line", EXIT.usage],
  ["path_outside", EXIT.usage],
  ["home_busy", EXIT.busy],
  ["lock_timeout", EXIT.busy],
  ["name_unknown", EXIT.notFound],
  ["file_missing", EXIT.notFound],
  ["config_invalid", EXIT.failed],
  ["something_else", EXIT.failed],
])("%s exits %i", (code, exit) => expect(exitCodeOf(new CodedError({ [code]: "x" }, code))).toBe(exit));

test("a system error says what happened where, and what to do", () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC", path: "/x/y" });
  const known = coded(error);
  expect(known.code).toBe("system");
  expect(known.message).toMatch(/^No space is left on the device: \/x\/y\. Free some space/);
  expect(known.cause).toBe(error);
});

test("anything else is a fault of ours and says so", () => {
  expect(coded(new TypeError("x is not a function")).code).toBe("unexpected");
  expect(coded("text").message).toMatch(/Something is wrong in holdfast itself: text/);
  const own = new CliError("output_closed");
  expect(coded(own)).toBe(own);
});

test("no sentence is left with an open blank when its details are given", () => {
  for (const sentence of Object.values(CLI_ERRORS)) {
    expect(sentence).toMatch(/[.}]$/);
  }
});
