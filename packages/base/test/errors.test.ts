/** Coded errors: the code is the contract, the message is filled from details, nothing is lost on the way. */
import { BASE_ERRORS, BaseError, CodedError, errnoOf, fill, messageOf } from "@holdfast/base";
import { expect, test } from "vitest";

test("an error carries class, code, details, message and cause", () => {
  const cause = new Error("below");
  const error = new BaseError("bad_size", { value: "much" }, cause);
  expect(error).toBeInstanceOf(CodedError);
  expect(error).toMatchObject({ name: "BaseError", code: "bad_size", details: { value: "much" }, cause });
  expect(error.message).toBe('Not a size: much. Write "100mb", "2gb" or a number of bytes.');
  expect("cause" in new BaseError("bad_size")).toBe(false);
});

test("fill leaves what is missing visible and fills falsy values", () => {
  expect(fill("{a} {b} {c} {d} {a}", { a: 0, b: false, c: null })).toBe("0 false null {d} 0");
});

test("a value that looks like a place is not filled again", () => {
  expect(fill("{a}", { a: "{b}", b: "secret" })).toBe("{b}");
});

test.each([
  { error: Object.assign(new Error("x"), { code: "ENOSPC" }), errno: "ENOSPC" },
  { error: Object.assign(new Error("x"), { code: 5 }), errno: undefined },
  { error: new Error("x"), errno: undefined },
  { error: { code: "ENOSPC" }, errno: undefined },
  { error: undefined, errno: undefined },
])("errnoOf %#", ({ error, errno }) => {
  expect(errnoOf(error)).toBe(errno);
});

test("messageOf takes anything that can be thrown", () => {
  expect([new Error("a"), "b", 3, undefined].map(messageOf)).toEqual(["a", "b", "3", "undefined"]);
});

test("every place in a message has a name", () => {
  for (const text of Object.values(BASE_ERRORS)) expect(text.replaceAll(/\{\w+\}/g, "")).not.toMatch(/[{}]/);
});

test("a sentence that ends with a sentence has one full stop", () => {
  const said = ["it is full.", "it is full", "wait...", "满了。"].map((why) => fill("No: {why}.", { why }));
  expect(said).toEqual(["No: it is full.", "No: it is full.", "No: wait...", "No: 满了。"]);
});

test("an error that was followed by another when leaving its scope is told first", () => {
  const error = new SuppressedError(new Error("the lock is gone"), new Error("the disk is full"));
  expect(messageOf(error)).toBe("the disk is full (then: the lock is gone)");
});
