/** A copy in one pass: equal, independent, and only of what a line gives back unchanged. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainCopy } from "../src/plain-copy.ts";

test("a copy of JSON is equal, shares nothing with it, and its text is the same", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (any) => {
      const value: unknown = JSON.parse(JSON.stringify(any));
      const copy = plainCopy(value);
      if (copy === undefined) return expect(JSON.stringify(value)).toContain("__proto__");
      expect(copy).toEqual(value);
      const text = JSON.stringify(value);
      expect(JSON.stringify(copy)).toBe(text);
      wreck(value);
      expect(JSON.stringify(copy)).toBe(text);
    }),
  );
});

/** Changes every object and list in a value. */
function wreck(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) wreck(member);
  if (Array.isArray(value)) value.push("more");
  else Object.assign(value, { more: 1 });
}

test("what JSON leaves out stays as a clone would have it", () => {
  const value = { none: undefined, list: [undefined, null, -0], [Symbol("s")]: 1 };
  expect(plainCopy(value)).toEqual(structuredClone(value));
});

const circle: unknown[] = [];
circle.push(circle);
const deep = JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`) as unknown;

test.each<[string, unknown]>([
  ["a function", () => {}],
  ["a symbol", Symbol("s")],
  ["a big integer", 1n],
  ["no number", Number.NaN],
  ["a number without end", Number.POSITIVE_INFINITY],
  ["a date", new Date(0)],
  ["a map", new Map()],
  ["an object without a prototype", Object.create(null)],
  ["a list of another kind", new (class extends Array {})()],
  ["something that goes in a circle", circle],
  ["something very deep", deep],
  ["a name that is no name", JSON.parse('{"__proto__":{"a":1}}')],
  ["a long text", "x".repeat(2 ** 20)],
  ["a long list", new Array(2 ** 21)],
  ["a long name", { ["x".repeat(2 ** 20)]: 1, b: 2 }],
])("there is no copy of %s", (_, value) => {
  expect(plainCopy(value)).toBeUndefined();
  expect(plainCopy({ inside: [value] })).toBeUndefined();
});
