/** Daily hours in named zones: tables of the days on which clocks change, and a model that only looks at clocks. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTimezone, machineTimezone, nextDaily, wallClock } from "../src/wall-clock.ts";

const at = (iso: string): number => Date.parse(iso);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** after → the next time it is `hour` there. */
const TABLE: readonly (readonly [zone: string, hour: number, what: string, after: string, next: string])[] = [
  ["Europe/Berlin", 4, "a winter day", "2026-01-10T03:00:00Z", "2026-01-11T03:00:00Z"],
  ["Europe/Berlin", 4, "one millisecond before", "2026-01-10T02:59:59.999Z", "2026-01-10T03:00:00Z"],
  ["Europe/Berlin", 4, "the day clocks go forward", "2026-03-28T03:00:00Z", "2026-03-29T02:00:00Z"],
  ["Europe/Berlin", 4, "the day clocks go back", "2026-10-24T02:00:00Z", "2026-10-25T03:00:00Z"],
  ["Europe/Berlin", 2, "a skipped hour: the jump itself", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
  ["Europe/Berlin", 2, "the day after a skipped hour", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"],
  ["Europe/Berlin", 2, "an hour that comes twice: the first", "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z"],
  ["Europe/Berlin", 2, "between the two: not again", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"],
  ["Europe/Berlin", 2, "in the second of the two: not again", "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z"],
  ["America/New_York", 4, "the day clocks go forward", "2026-03-07T09:00:00Z", "2026-03-08T08:00:00Z"],
  ["America/New_York", 2, "a skipped hour: the jump itself", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"],
  ["America/New_York", 1, "an hour that comes twice: the first", "2026-10-31T12:00:00Z", "2026-11-01T05:00:00Z"],
  ["America/New_York", 1, "in the second of the two: not again", "2026-11-01T06:30:00Z", "2026-11-02T06:00:00Z"],
  ["Asia/Shanghai", 4, "no change of clocks", "2026-03-28T19:59:00Z", "2026-03-28T20:00:00Z"],
  ["Asia/Shanghai", 4, "just after", "2026-03-28T20:01:00Z", "2026-03-29T20:00:00Z"],
  ["Asia/Shanghai", 0, "midnight", "2026-06-30T15:59:59Z", "2026-06-30T16:00:00Z"],
  ["Asia/Shanghai", 23, "the last hour", "2026-06-30T15:00:00Z", "2026-07-01T15:00:00Z"],
  ["Australia/Lord_Howe", 2, "half an hour skipped: the jump itself", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"],
  ["Australia/Lord_Howe", 2, "clocks set back half an hour at two", "2026-04-04T12:00:00Z", "2026-04-04T15:30:00Z"],
  ["Australia/Lord_Howe", 4, "half an hour less", "2026-10-02T17:30:00Z", "2026-10-03T17:00:00Z"],
  ["America/Havana", 0, "midnight comes twice: the first", "2026-10-31T12:00:00Z", "2026-11-01T04:00:00Z"],
  ["America/Havana", 0, "in the hour before the second midnight", "2026-11-01T04:59:00Z", "2026-11-02T05:00:00Z"],
  ["Pacific/Apia", 4, "a whole day is skipped", "2011-12-29T14:00:00Z", "2011-12-30T10:00:00Z"],
  ["Pacific/Apia", 4, "after the skipped day", "2011-12-30T10:00:00Z", "2011-12-30T14:00:00Z"],
  ["+05:00", 4, "an offset instead of a name", "2026-03-28T22:59:00Z", "2026-03-28T23:00:00Z"],
  ["UTC", 4, "before 1970", "1969-12-31T03:59:59.500Z", "1969-12-31T04:00:00Z"],
];

describe("the next time it is an hour somewhere", () => {
  test.each(TABLE)("%s, %i o'clock, %s", (zone, hour, _what, after, next) => {
    expect(new Date(nextDaily(zone, hour, at(after))).toISOString()).toBe(new Date(at(next)).toISOString());
  });

  const zones = ["Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "America/Havana"];
  /** Days on which clocks change there are drawn as often as other days. */
  const change = fc.constantFrom("2026-03-08", "2026-03-29", "2026-04-04", "2026-10-03", "2026-10-25", "2026-11-01");
  const instant = fc.oneof(
    fc.tuple(change, fc.integer({ min: -96, max: 192 })).map(([day, quarters]) => at(day) + quarters * 15 * MINUTE_MS),
    fc.integer({ min: at("2020-01-01"), max: at("2035-01-01") }).map((ms) => ms - (ms % (15 * MINUTE_MS))),
  );

  /** The model: watch the clock from two days before; a day is reached when it is shown for the first time. */
  function watched(zone: string, hour: number, after: number): number {
    const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    const day = (ms: number): number =>
      Math.floor((at(`${clock.format(ms).replace(" ", "T")}Z`) - hour * HOUR_MS) / DAY_MS);
    let latest = day(after - 2 * DAY_MS);
    for (let now = after - 2 * DAY_MS; ; now += 15 * MINUTE_MS) {
      const reached = day(now) > latest;
      latest = Math.max(latest, day(now));
      if (reached && now > after) return now;
    }
  }

  test("is what somebody sees who watches the clock", () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(23), instant, (zone, hour, after) => {
        expect(nextDaily(zone, hour, after)).toBe(watched(zone, hour, after));
      }),
      { numRuns: 150 },
    );
  });

  test("only grows, is later than asked, and comes once in a local day", () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(23), instant, fc.nat(3 * DAY_MS), (zone, hour, after, more) => {
        const next = nextDaily(zone, hour, after);
        expect(next).toBeGreaterThan(after);
        expect(nextDaily(zone, hour, after + more)).toBeGreaterThanOrEqual(next);
        const following = nextDaily(zone, hour, next);
        expect(Math.abs(following - next - DAY_MS)).toBeLessThanOrEqual(HOUR_MS);
      }),
      { numRuns: 200 },
    );
  });
});

describe("zones", () => {
  test.each(["Europe/Berlin", "Asia/Shanghai", "UTC", "+05:00"])("%s can be computed with", (name) => {
    expect(isTimezone(name)).toBe(true);
  });
  test.each(["", "Berlin", "Europe/Berlin ", "GMT+25", "../etc/localtime"])("%j cannot", (name) => {
    expect(isTimezone(name)).toBe(false);
  });
  test("the machine's has a name", () => {
    expect(isTimezone(machineTimezone())).toBe(true);
  });
  test("a clock shows milliseconds too", () => {
    expect(wallClock("Asia/Shanghai", at("2026-01-01T00:00:00.123Z"))).toBe(at("2026-01-01T08:00:00.123Z"));
    expect(wallClock("UTC", -1)).toBe(-1);
  });
});
