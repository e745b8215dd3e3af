/** The newest rows against a model that sorts all of them, through any changes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Newest, writtenAt } from "../src/newest.ts";
import type { SessionRow } from "../src/types.ts";

const rowAt = (updatedAt: unknown): SessionRow => ({ sessionId: "s", sessionFile: "s.jsonl", updatedAt }) as SessionRow;

test("the newest few are those that sorting everything gives", () => {
  const key = fc.constantFrom("a:1", "a:2", "a:3", "b:1", "b:2");
  const time = fc.oneof(fc.nat(20), fc.constantFrom(undefined, "text", null));
  const change = fc.record({ key, time, remove: fc.boolean(), ask: fc.boolean() });
  const query = fc.record({ prefix: fc.constantFrom("", "a:", "none"), limit: fc.nat(6) });
  const agrees = fc.property(fc.array(change, { maxLength: 400 }), query, (changes, { prefix, limit }) => {
    const rows = new Map<string, SessionRow>();
    const newest = new Newest(rows);
    for (const { key, time, remove, ask } of changes) {
      if (ask) newest.list({ limit: 1 });
      if (remove) rows.delete(key);
      else rows.set(key, rowAt(time));
      newest.wrote(key);
    }
    const all = [...rows].filter(([key]) => key.startsWith(prefix));
    const times = all.map(([, row]) => writtenAt(row)).sort((a, b) => b - a);
    const listed = newest.list({ prefix, limit });
    expect(listed.map(({ row }) => writtenAt(row))).toEqual(times.slice(0, limit));
    expect(new Set(listed.map(({ key }) => key)).size).toBe(listed.length);
    for (const { key, row } of listed) expect(rows.get(key)).toBe(row);
  });
  fc.assert(agrees);
});

test("without a limit every row is there once, however often it was written", () => {
  const rows = new Map<string, SessionRow>();
  const newest = new Newest(rows);
  newest.list({});
  for (let at = 0; at < 1000; at++) {
    rows.set(`k${at % 3}`, rowAt(at));
    newest.wrote(`k${at % 3}`);
  }
  expect(newest.list({}).map(({ key }) => key)).toEqual(["k0", "k2", "k1"]);
});

test("more rows than are marked at first: any number, any prefix, and what is written later, also into the past", () => {
  const rows = new Map<string, SessionRow>(
    Array.from({ length: 5000 }, (_, at) => [`k${at % 7}:${at}`, rowAt((at * 7919) % 4999)] as const),
  );
  const newest = new Newest(rows);
  const times = (query: object) => newest.list(query).map(({ row }) => writtenAt(row));
  const expected = (prefix: string) =>
    [...rows]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, row]) => writtenAt(row))
      .sort((a, b) => b - a);
  expect(times({ limit: 50 })).toEqual(expected("").slice(0, 50));
  for (const [key, at] of [
    ["k0:0", 1],
    ["k1:1", 9000],
    ["new", 4990],
  ] as const) {
    rows.set(key, rowAt(at));
    newest.wrote(key);
  }
  expect(times({ limit: 50 })).toEqual(expected("").slice(0, 50));
  expect(times({ prefix: "k3:", limit: 600 })).toEqual(expected("k3:").slice(0, 600));
  expect(times({})).toEqual(expected(""));
});
