/** Each case of the topics that are covered names a test by its id, so that none can be dropped unnoticed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/**
 * Histories and indexes (a, b), what is sent (c), locks and owners (d), queues and restarts (g, h, but for cron and helpers),
 * size (i), times and places (j, but for heartbeats inside of heartbeats), branches (k), files, walls and names (m, as far as they go).
 */
const COVERED: Readonly<Record<string, readonly number[]>> = {
  a: [1, 3, 4, 6, 8, 10, 12, 13, 14],
  b: [15, 17, 18, 20, 21, 23, 25, 27, 29, 31, 33],
  c: [34, 36, 37, 39, 41, 43, 45, 47, 49, 50, 51],
  d: [52, 54, 55, 57, 59, 61, 62, 63],
  g: [97, 99, 101, 103, 105, 107, 108, 109],
  h: [111, 113, 115, 116, 117, 119, 123],
  i: [126, 128, 130, 132, 134, 136, 137, 138],
  j: [139, 141, 143, 145, 147, 149, 151, 152],
  k: [154, 156, 158, 159, 160, 162, 164, 166],
  m: [179, 181, 183, 189],
};

const packages = new URL("../../packages/", import.meta.url).pathname;
const titles = (readdirSync(packages, { recursive: true }) as string[])
  .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
  .flatMap((name) => [...readFileSync(join(packages, name), "utf8").matchAll(/["`'](B\d{3}[ ,][^"`']*)/g)])
  .map((match) => match[1] ?? "");

test.each(Object.entries(COVERED))("topic %s", (_topic, cases) => {
  const ids = cases.map((number) => `B${String(number).padStart(3, "0")}`);
  expect(ids.filter((id) => !titles.some((title) => title.includes(id)))).toEqual([]);
});
