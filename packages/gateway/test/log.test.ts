/** The log as people read it. */
import { expect, test } from "vitest";
import { plainLine } from "../src/log.ts";

test.each([
  [{ level: 40, time: 1, msg: "taking over", pid: 12 }, "warning: taking over (pid 12)\n"],
  [{ level: 30, time: 1, msg: "work goes on" }, "note: work goes on\n"],
  [{ level: 50, time: 1, msg: "failed", code: "x", why: "a\u001b[31m\nb" }, "error: failed (code x, why a [31m b)\n"],
])("%j", (fields, line) => {
  expect(plainLine(JSON.stringify(fields))).toBe(line);
});
