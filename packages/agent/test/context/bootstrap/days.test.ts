/** Days and clocks where the user is. */
import { expect, test } from "vitest";
import { clockAt, dayAt, dayBefore } from "../../../src/context/bootstrap/days.ts";

const at = Date.parse("2026-12-01T20:30:00Z");

test.each([
  ["UTC", "2026-12-01", "Tue", "20:30", "+00:00"],
  ["Asia/Shanghai", "2026-12-02", "Wed", "04:30", "+08:00"],
  ["America/New_York", "2026-12-01", "Tue", "15:30", "-05:00"],
  ["Asia/Kolkata", "2026-12-02", "Wed", "02:00", "+05:30"],
])("%s", (timezone, day, weekday, time, offset) => {
  expect(clockAt(timezone, at)).toEqual({ day, weekday, time, offset });
});

test("midnight is 00, and begins the new day", () => {
  expect(clockAt("Asia/Shanghai", Date.parse("2026-12-01T16:00:00Z"))).toMatchObject({
    day: "2026-12-02",
    time: "00:00",
  });
  expect(dayAt("Asia/Shanghai", Date.parse("2026-12-01T15:59:59Z"))).toBe("2026-12-01");
});

test("yesterday is the calendar's, on days of 23 and 25 hours too", () => {
  expect(dayBefore("2026-03-30")).toBe("2026-03-29");
  expect(dayBefore("2026-10-26")).toBe("2026-10-25");
  expect(dayBefore("2026-01-01")).toBe("2025-12-31");
  expect(dayBefore("2028-03-01")).toBe("2028-02-29");
});
