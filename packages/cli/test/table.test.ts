/** Columns line up for wide characters, too; wrapped text loses nothing. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ago, clip, columns, counted, sizeText, widthOf, wrap } from "../src/table.ts";

test("wide characters take two cells, colours none", () => {
  expect(widthOf("待办 a")).toBe(6);
  expect(widthOf("\u001b[1mab\u001b[22m")).toBe(2);
  expect(widthOf("ｈ가😀")).toBe(6);
});

test("columns start at the same cell in every row", () => {
  expect(
    columns([
      ["a", "b"],
      ["待办", "c"],
    ]),
  ).toBe("a     b\n待办  c\n");
  expect(columns([])).toBe("");
});

test.each([
  [undefined, "-"],
  [1_000_500, "now"],
  [999_500, "now"],
  [995_000, "5 s ago"],
  [1_000_000 - 3 * 60_000, "3 min ago"],
  [1_000_000 - 2 * 3_600_000, "2 h ago"],
  [1_000_000 - 3 * 86_400_000, "3 d ago"],
])("%s is %s", (then, text) => expect(ago(then, 1_000_000)).toBe(text));

test("wrapping breaks between words, keeps indentation, and breaks Chinese anywhere", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("  - one two", 7)).toEqual(["  - one", "  two"]);
  expect(wrap("把合同草稿发给", 6)).toEqual(["把合同", "草稿发", "给"]);
  expect(wrap("a\n\nb", 10)).toEqual(["a", "", "b"]);
});

test("property: wrapping changes white space only", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "待", " ", "\n", "-", "，") }),
      fc.integer({ min: 2, max: 30 }),
      (text, width) => {
        const squeeze = (value: string): string => value.replace(/\s/g, "");
        expect(squeeze(wrap(text, width).join("\n"))).toBe(squeeze(text));
      },
    ),
  );
});

test("what is cut fits, is a beginning, and says that it was cut; what fits is as it was", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "会", "🎉", "\u001b[1m", "\u001b[22m", " ") });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, width) => {
      const cut = clip(text, width);
      expect(widthOf(cut)).toBeLessThanOrEqual(width);
      if (widthOf(text) <= width) expect(cut).toBe(text);
      else expect(text.startsWith(cut.replace(/…(\u001b\[0m)?$/, ""))).toBe(true);
    }),
  );
  expect(clip("会议纪要", 5)).toBe("会议…");
  expect(clip("x".repeat(500), Number.POSITIVE_INFINITY)).toHaveLength(500);
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1536, "1.5 KB"],
  [129 * 1024 ** 2, "129 MB"],
  [3 * 1024 ** 3, "3.0 GB"],
])("%d bytes are %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));

test("numbers are said with their nouns", () => {
  expect([counted(1, "entry", "entries"), counted(2, "entry", "entries"), counted(0, "call")]).toEqual([
    "1 entry",
    "2 entries",
    "0 calls",
  ]);
});
