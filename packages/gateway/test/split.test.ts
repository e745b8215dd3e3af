/** What is sent of a reply, and in how many pieces. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { split, spoken } from "../src/split.ts";

test.each([
  ["NO_REPLY", ""],
  ["  NO_REPLY \n", ""],
  ["", ""],
  [" \n ", ""],
  ["Done.\nNO_REPLY", "Done."],
  ["Done.\n \t\n  NO_REPLY", "Done."],
  [`${"\n".repeat(200_000)}x`, `${"\n".repeat(200_000)}x`],
  ["Say NO_REPLY to be silent", "Say NO_REPLY to be silent"],
  ["hello\n", "hello"],
])("%j leaves as %j", (text, sent) => expect(spoken(text)).toBe(sent));

describe("pieces", () => {
  test("a short text is one piece; without a limit every text is", () => {
    expect(split("hello", 10)).toEqual(["hello"]);
    expect(split("x".repeat(9_999), undefined)).toHaveLength(1);
  });

  test("cut at a paragraph, else a line, else a space", () => {
    expect(split("one one\n\ntwo two", 12)).toEqual(["one one", "two two"]);
    expect(split("one one\ntwo two", 12)).toEqual(["one one", "two two"]);
    expect(split("one two three", 8)).toEqual(["one two", " three"]);
  });

  test("a code block that is cut is closed and opened again", () => {
    const lines = Array.from({ length: 12 }, (_, n) => `line ${n}`).join("\n");
    const pieces = split(`Look:\n\`\`\`ts\n${lines}\n\`\`\`\nDone.`, 50);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(50);
      expect((piece.match(/^```/gmu) ?? []).length % 2, piece).toBe(0);
    }
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith("```ts\n"))).toBe(true);
    for (let n = 0; n < 12; n++) expect(pieces.join("\n")).toContain(`line ${n}`);
  });

  const character = fc.constantFrom("a", "好", "🧷", " ", "\n", "\n\n", "```\n", "word ");
  test("always end, stay within the limit, tear no character and lose nothing that is read", () => {
    const texts = fc.array(character, { maxLength: 300 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, fc.integer({ min: 4, max: 60 }), (text, max) => {
        const pieces = split(text, max);
        const read = (from: string) => from.replace(/[`\s]/gu, "");
        expect(read(pieces.join(""))).toBe(read(text));
        for (const piece of pieces) expect([piece.length <= max, piece.isWellFormed()]).toEqual([true, true]);
      }),
    );
  });
});
