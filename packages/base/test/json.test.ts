/** Canonical JSON: equal values give equal text, different values different text, and it is still JSON. */
import { isDeepStrictEqual } from "node:util";
import { canonical, digest, isDeeper, isObject, sha256, tryParse } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";

/** The same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).reverse()) copy[key] = reversed(value[key]);
  return copy;
}

test("canonical text parses back to the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("the order in which keys were written does not matter", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonical(reversed(value))).toBe(canonical(value));
    }),
  );
});

test("different values give different texts", () => {
  const value = fc.jsonValue({ maxDepth: 1 });
  fc.assert(
    fc.property(value, value, (a, b) => {
      fc.pre(!isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))));
      expect(canonical(a)).not.toBe(canonical(b));
    }),
  );
});

test("keys are sorted by code unit at every depth, without white space", () => {
  expect(canonical({ b: 1, a: { z: [{ y: 2, x: 1 }], é: 0, Z: 0 } })).toBe(
    '{"a":{"Z":0,"z":[{"x":1,"y":2}],"é":0},"b":1}',
  );
});

test("undefined: left out of objects, null elsewhere", () => {
  expect(canonical({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  expect(canonical(undefined)).toBe("null");
});

test("a key that objects treat specially is a key like any other", () => {
  expect(canonical(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
});

test("digests are SHA-256 in hex, of text as UTF-8", () => {
  expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(sha256("é")).toBe(sha256(new Uint8Array([0xc3, 0xa9])));
  expect(digest({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'));
});

test("tryParse gives undefined for damage and nothing else", () => {
  expect([tryParse("null"), tryParse('{"a":1}'), tryParse("{"), tryParse("")]).toEqual([
    null,
    { a: 1 },
    undefined,
    undefined,
  ]);
});

test("isObject", () => {
  expect([{}, null, [], "x", 1, undefined].map(isObject)).toEqual([true, false, false, false, false, false]);
});

test("depth is counted without a stack, and a digest of too much of it is refused", () => {
  const nested = (levels: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
    return value;
  };
  expect([isDeeper(nested(5), 5), isDeeper(nested(6), 5), isDeeper(nested(1_000_000), 5)]).toEqual([false, true, true]);
  expect(canonical(nested(1_000)).length).toBeGreaterThan(1_000);
  for (const levels of [1_001, 100_000]) {
    expect(() => digest(nested(levels))).toThrow(expect.objectContaining({ code: "json_too_deep" }));
  }
});
