/** Long files: what of them is kept, and what is said about the rest. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutTo } from "../../../src/context/bootstrap/cut.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

test("what fits stays as it is", () => {
  expect(cutTo("abc", 3, "A.md")).toEqual({ text: "abc", left: 0 });
});

test("head and tail in whole lines, and where the rest is to be read", () => {
  const whole = lines(1000);
  const { text, left } = cutTo(whole, 1000, "AGENTS.md");
  const [, from, to] =
    /characters of lines (\d+) to (\d+) \(of 1000\) are left out; read AGENTS\.md with offset \1 /.exec(text)!;
  const kept = [...lines(Number(from) - 1).split("\n"), ...whole.split("\n").slice(Number(to))];
  expect(text.split("\n").filter((line) => !line.startsWith("[cut"))).toEqual(kept);
  // Exactly the lines that are named are missing; two line breaks went with them.
  expect(left).toBe(
    whole
      .split("\n")
      .slice(Number(from) - 1, Number(to))
      .join("\n").length + 2,
  );
  expect(kept.slice(0, Number(from) - 1).join("\n").length).toBeGreaterThan(600);
});

test("a line that is too long is cut in its middle, never between the halves of a character", () => {
  for (const max of [400, 401, 402, 403]) {
    const { text } = cutTo("😀".repeat(1000), max, "A.md");
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/^(😀)+\n\[cut here: \d+ characters of line 1 \(of 1\).*\]\n(😀)+$/u);
  }
});

test("where there is no room for more, it is the note, or nothing", () => {
  expect(cutTo("x".repeat(1000), 100, "A.md").text).toBe("[cut here: read A.md]");
  expect(cutTo("x".repeat(1000), 10, "A.md").text).toBe("");
});

test("never longer than asked for, always well-formed, and what is kept is the beginning and the end", () => {
  const piece = fc.oneof(fc.string({ unit: "grapheme", maxLength: 60 }), fc.constant("\n"), fc.constant("待办"));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), fc.integer({ min: 0, max: 2000 }), (pieces, max) => {
      const whole = pieces.join("");
      const { text, left } = cutTo(whole, max, "MEMORY.md");
      expect(text.length).toBeLessThanOrEqual(max);
      expect(text.isWellFormed()).toBe(true);
      const [head, tail] = text.split(/\n\[cut here: .*?them\]\n/s);
      if (left === 0) expect(text).toBe(whole);
      else if (tail !== undefined) {
        expect(whole.startsWith(head!) && whole.endsWith(tail)).toBe(true);
        expect(head!.length + tail.length + left).toBe(whole.length);
      }
    }),
  );
});
