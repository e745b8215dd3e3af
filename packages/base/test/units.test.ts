/** Durations and sizes as people write them: what is meant is kept, what is unclear is refused. */
import { durationMs, sizeBytes } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["2h", 7_200_000],
  ["30d", 2_592_000_000],
  ["1.5h", 5_400_000],
  [" 2 H ", 7_200_000],
  [1234.4, 1234],
  [0, 0],
])("duration %s", (value, ms) => {
  expect(durationMs(value)).toBe(ms);
});

test.each([
  ["100mb", 104_857_600],
  ["2GB", 2_147_483_648],
  ["1.5kb", 1536],
  ["12b", 12],
  [7, 7],
])("size %s", (value, bytes) => {
  expect(sizeBytes(value)).toBe(bytes);
});

const REFUSED = ["", "5", "s", "-1s", "1e3s", "1s 2s", "1 s s", "0x10s", "١s", "5 weeks", -1, Number.NaN, Infinity];

test.each(REFUSED)("refused: %s", (value) => {
  expect(() => durationMs(value)).toThrow(expect.objectContaining({ code: "bad_duration" }));
  expect(() => sizeBytes(value)).toThrow(expect.objectContaining({ code: "bad_size" }));
});

test("a unit of one kind is no unit of the other", () => {
  expect(() => durationMs("1mb")).toThrow(expect.objectContaining({ code: "bad_duration" }));
  expect(() => sizeBytes("1ms")).toThrow(expect.objectContaining({ code: "bad_size" }));
  expect(() => durationMs("1constructor")).toThrow(expect.objectContaining({ code: "bad_duration" }));
});

test("whole numbers of a unit are exact, whatever case and space surround them", () => {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
  fc.assert(
    fc.property(fc.nat(100_000), unit, fc.constantFrom("", " ", "\t"), (count, name, space) => {
      expect(durationMs(`${space}${count}${space}${name.toUpperCase()}${space}`)).toBe(count * units[name]);
    }),
  );
});
