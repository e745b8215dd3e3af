/** Broken assumptions stop the program with a TypeError that names them. */
import { assert, assertNever } from "@holdfast/base";
import { expect, test } from "vitest";

test("assert passes truth and names what is false", () => {
  expect(() => assert(1, "one")).not.toThrow();
  expect(() => assert("", "text is there")).toThrow(new TypeError("assertion failed: text is there"));
});

test("assertNever shows the value nobody expected", () => {
  const value = { kind: "surprise" } as unknown as never;
  expect(() => assertNever(value)).toThrow(new TypeError('unreachable value: {"kind":"surprise"}'));
});
