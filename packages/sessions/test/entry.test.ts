/** Lines: written, read back, and what is made of those that nobody should have written. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeEntry, encodeHeader, identify, parseLine, toolCallsOf } from "../src/entry.ts";
import { peek } from "../src/reading/peek.ts";
import { HEADER, make, user } from "./support/make.ts";

test("what is written is read back, on one line of valid UTF-8, whatever the text", () => {
  const value = fc.jsonValue({ stringUnit: "binary", maxDepth: 2 });
  fc.assert(
    fc.property(value, fc.string({ unit: "binary" }), (data, text) => {
      const entry = { ...user("e1", null, text), data, g: 3, t: 4, answers: ["a"], seen: "s", returnTo: "r" };
      const line = encodeEntry(entry);
      expect(line).not.toContain("\n");
      expect(line.isWellFormed()).toBe(true);
      const parsed = parseLine(line);
      expect(parsed).toEqual({ kind: "entry", flaw: null, entry: JSON.parse(JSON.stringify(entry)) });
      expect(peek(Buffer.from(line))).toEqual({ type: "message", id: "e1", parentId: null, g: 3 });
    }),
    { seed: 6, numRuns: 50 },
  );
});

test("half a character is stored as an escape and comes back", () => {
  const entry = user("e", null, "cut \ud83d");
  expect(encodeEntry(entry)).toContain("\\ud83d");
  expect(parseLine(encodeEntry(entry))).toMatchObject({ entry });
});

test("a header begins like every header", () => {
  expect(encodeHeader({ parentSession: "/x", ...HEADER })).toMatch(
    /^\{"type":"session","version":3,"id":"s-1","timestamp":/,
  );
  expect(parseLine(encodeHeader(HEADER))).toEqual({ kind: "header", header: HEADER, flaw: null });
});

describe("lines as they are found", () => {
  const json = JSON.stringify(user("e", null, "x"));
  test.each([
    ["", { kind: "blank" }],
    [" \t\r", { kind: "blank" }],
    ["\uFEFF", { kind: "blank" }],
    ["\0\0", { kind: "damaged", why: "NUL bytes" }],
    ["{", { kind: "damaged", why: "not JSON" }],
    ["7", { kind: "damaged", why: "not an object" }],
    ["{}", { kind: "damaged", why: "no type" }],
    ['{"type":7}', { kind: "damaged", why: "no type" }],
    [`${json}\r`, { kind: "entry", flaw: null }],
    [`\0${json}`, { kind: "entry", flaw: "NUL bytes around the entry" }],
    [`\uFEFF${json}`, { kind: "entry", flaw: "byte order mark" }],
    ['{"type":"x"}', { kind: "anonymous", flaw: null }],
    ['{"type":"x","id":7}', { kind: "anonymous" }],
    ['{"type":"x","id":""}', { kind: "anonymous" }],
  ])("%j", (line, expected) => expect(parseLine(line)).toMatchObject(expected));

  test("bytes that are no text are used and noted", () => {
    const bytes = Buffer.from(json.replace('"x"', '"?"')).map((byte) => (byte === 0x3f ? 0xff : byte));
    expect(parseLine(bytes)).toMatchObject({ kind: "entry", flaw: "invalid UTF-8" });
  });

  test("no line makes it throw, and its answer never quotes the line", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const parsed = parseLine(bytes);
        return parsed.kind !== "damaged" || parsed.why.length < 40;
      }),
      { seed: 7 },
    );
  });
});

test("an entry without an id gets the one given; unknown fields stay", () => {
  expect(identify({ type: "x", more: [1] }, "line-4", "a")).toEqual({
    type: "x",
    more: [1],
    id: "line-4",
    parentId: "a",
  });
});

test("calls are found in answers only", () => {
  const block = { type: "toolCall", id: "t", name: "n", arguments: {} };
  expect(toolCallsOf({ role: "assistant", content: [{ type: "text", text: "x" }, block] })).toEqual([block]);
  expect(toolCallsOf({ role: "user", content: [block] })).toEqual([]);
  expect(toolCallsOf({ role: "assistant", content: null })).toEqual([]);
});

test("a type of another program is carried through", () => {
  const entry = make("from.the-future", "e", null, { nested: { deep: [1, { a: null }] } });
  expect(parseLine(encodeEntry(entry))).toEqual({ kind: "entry", entry, flaw: null });
});

test("a long run of spaces or NULs in the middle of a line costs no more than its length", () => {
  const run = (character: string): string => character.repeat(2 ** 20);
  const text = `{"type":"x","id":"a","parentId":null,"text":"${run(" ")}"}`;
  expect(parseLine(`${text}\r`)).toMatchObject({ kind: "entry", flaw: null });
  expect(parseLine(`{"torn${run("\0")}x`)).toEqual({ kind: "damaged", why: "not JSON" });
  expect(parseLine(`${text}\uFEFF`)).toEqual({ kind: "damaged", why: "not JSON" });
});
