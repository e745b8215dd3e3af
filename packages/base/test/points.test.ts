/** Fault points: the process dies or stands still exactly where the plan says, and the trace tells where that was. */
import { existsSync, readFileSync } from "node:fs";
import { pointsFromEnvironment } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { startChild } from "./support/child.ts";
import { tempDirectory } from "./support/temp.ts";

const NAMES = ["a:before", "b:after", "a:before", "b:after"];

async function run(fault: string, trace: string): Promise<{ readonly passed: string[]; readonly end: unknown }> {
  await using child = startChild("points", NAMES, { env: { HOLDFAST_FAULT: fault, HOLDFAST_FAULT_TRACE: trace } });
  const passed: string[] = [];
  for (let line = await child.line(); line !== undefined; line = await child.line()) passed.push(line);
  return { passed, end: await child.ended() };
}

describe("kill", () => {
  test.each([
    { fault: "", passed: 4, traced: 4, end: 0 },
    { fault: "kill@1", passed: 0, traced: 1, end: "SIGKILL" },
    { fault: "kill@3", passed: 2, traced: 3, end: "SIGKILL" },
    { fault: "kill@5", passed: 4, traced: 4, end: 0 },
    { fault: "kill@b:after#1", passed: 1, traced: 2, end: "SIGKILL" },
    { fault: "kill@b:after#2", passed: 3, traced: 4, end: "SIGKILL" },
    { fault: "kill@b:after#3", passed: 4, traced: 4, end: 0 },
    { fault: "kill@c:never#1", passed: 4, traced: 4, end: 0 },
  ])("'$fault' passes $passed of 4", async ({ fault, passed, traced, end }) => {
    await using temp = await tempDirectory();
    const trace = temp.at("trace");
    expect(await run(fault, trace)).toEqual({ passed: NAMES.slice(0, passed), end });
    const lines = NAMES.slice(0, traced).map((name, index) => `${index + 1} ${name}\n`);
    expect(readFileSync(trace, "utf8")).toBe(lines.join(""));
  });
});

test("hold: stands still after the trace line until somebody kills it", async () => {
  await using temp = await tempDirectory();
  const trace = temp.at("trace");
  const env = { HOLDFAST_FAULT: "hold@b:after#1", HOLDFAST_FAULT_TRACE: trace };
  await using child = startChild("points", NAMES, { env });
  expect(await child.line()).toBe("a:before");
  await expect
    .poll(() => existsSync(trace) && readFileSync(trace, "utf8"), { interval: 5 })
    .toBe("1 a:before\n2 b:after\n");
  child.process.kill("SIGTERM");
  child.process.kill("SIGKILL");
  expect(await child.line()).toBeUndefined();
  expect(["SIGTERM", "SIGKILL"]).toContain(await child.ended());
  expect(readFileSync(trace, "utf8")).toBe("1 a:before\n2 b:after\n");
});

test("without a plan and a trace nothing happens", () => {
  expect(pointsFromEnvironment({})("any:point")).toBeUndefined();
  expect(pointsFromEnvironment({ HOLDFAST_FAULT: "" })("any:point")).toBeUndefined();
});

test.each(["kill", "kill@", "kill@0", "kill@name", "kill@name#0", "stop@1", "kill@1 ", "KILL@1", "kill@#1"])(
  "a mistyped plan is no run without a fault: %s",
  (plan) => {
    expect(() => pointsFromEnvironment({ HOLDFAST_FAULT: plan })).toThrow(/HOLDFAST_FAULT: write kill@<n>/);
  },
);
