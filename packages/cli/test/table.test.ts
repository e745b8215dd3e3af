/** Columns line up for wide characters, too; wrapped text loses nothing. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ago, columns, widthOf, wrap } from "../src/table.ts";

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
