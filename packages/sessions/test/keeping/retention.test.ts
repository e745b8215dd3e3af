/** The policy against a simple model, and by example. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBackground, lastSpokenMs, planRetention, type RetentionFact } from "../../src/keeping/retention.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = 1000 * DAY_MS;
const OFF = { maxAgeMs: null, maxBytes: null, backgroundMax: null };

function fact(key: string, days: number, bytes: number | null, more: Partial<RetentionFact> = {}): RetentionFact {
  const about = { key, sessionId: `id-${key}`, lastAtMs: NOW_MS - days * DAY_MS, bytes };
  return { ...about, background: false, blocked: null, ...more };
}
const keys = (list: readonly { readonly key: string }[]): string[] => list.map(({ key }) => key);

describe("retention", () => {
  test("without limits everything stays", () => {
    const plan = planRetention([fact("a", 900, 10 ** 12)], OFF, NOW_MS);
    expect(plan).toEqual({ chosen: [], kept: [], liveBytes: 10 ** 12, bytesAfter: 10 ** 12 });
  });

  test("by age: older than the limit goes, exactly as old stays", () => {
    const plan = planRetention(
      [fact("a", 31, 1), fact("b", 30, 1), fact("c", 29, 1)],
      { ...OFF, maxAgeMs: 30 * DAY_MS },
      NOW_MS,
    );
    expect(plan.chosen).toMatchObject([{ key: "a", act: "archive", why: "age" }]);
  });

  test("by size: the oldest first until it is below, and no further", () => {
    const facts = [fact("new", 1, 60), fact("old", 3, 30), fact("mid", 2, 30)];
    const plan = planRetention(facts, { ...OFF, maxBytes: 100 }, NOW_MS);
    expect(keys(plan.chosen)).toEqual(["old"]);
    expect([plan.liveBytes, plan.bytesAfter]).toEqual([120, 90]);
  });

  test("what is archived already does not count and is not chosen", () => {
    const plan = planRetention(
      [fact("away", 900, null), fact("here", 1, 90)],
      { ...OFF, maxBytes: 100, maxAgeMs: DAY_MS * 2 },
      NOW_MS,
    );
    expect(plan.chosen).toEqual([]);
    expect(plan.liveBytes).toBe(90);
  });

  test("what is blocked stays, is named with its reason, and the next oldest goes instead", () => {
    const facts = [fact("old", 9, 50, { blocked: "running" }), fact("mid", 5, 50), fact("new", 1, 50)];
    const plan = planRetention(facts, { ...OFF, maxBytes: 100 }, NOW_MS);
    expect(keys(plan.chosen)).toEqual(["mid"]);
    expect(plan.kept).toEqual([{ key: "old", sessionId: "id-old", why: "running" }]);
  });

  test("background work goes before people's conversations, and beyond its number loses its rows", () => {
    const facts = [
      fact("human", 90, 60),
      fact("cron-1", 3, 30, { background: true }),
      fact("cron-2", 1, 30, { background: true }),
    ];
    expect(keys(planRetention(facts, { ...OFF, maxBytes: 100 }, NOW_MS).chosen)).toEqual(["cron-1"]);
    const plan = planRetention(facts, { ...OFF, backgroundMax: 1 }, NOW_MS);
    expect(plan.chosen).toMatchObject([{ key: "cron-1", act: "clear", why: "background" }]);
  });

  test("whatever the facts: limits hold unless something blocks, nothing blocked is chosen, nobody twice", () => {
    const anyFact = fc.record({
      days: fc.integer({ min: 0, max: 100 }),
      bytes: fc.option(fc.nat(1000), { nil: null }),
      background: fc.boolean(),
      blocked: fc.option(fc.constant("pinned"), { nil: null }),
    });
    const limits = fc.record({ maxAgeDays: fc.nat(100), maxBytes: fc.nat(20_000), backgroundMax: fc.nat(10) });
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 30 }), limits, (many, { maxAgeDays, maxBytes, backgroundMax }) => {
        const facts = many.map(({ days, bytes, ...more }, n) => fact(`k${n}`, days, bytes, more));
        const plan = planRetention(facts, { maxAgeMs: maxAgeDays * DAY_MS, maxBytes, backgroundMax }, NOW_MS);
        const gone = new Set(keys(plan.chosen));
        expect(gone.size).toBe(plan.chosen.length);
        const left = facts.filter(({ key }) => !gone.has(key));
        const free = left.filter(({ blocked }) => blocked === null);
        expect(facts.filter(({ key, blocked }) => gone.has(key) && blocked !== null)).toEqual([]);
        const size = left.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
        expect(plan.bytesAfter).toBe(size);
        if (size > maxBytes) expect(free.filter(({ bytes }) => bytes !== null)).toEqual([]);
        expect(free.filter(({ lastAtMs, bytes }) => bytes !== null && NOW_MS - lastAtMs > maxAgeDays * DAY_MS)).toEqual(
          [],
        );
        const again = planRetention(left, { maxAgeMs: maxAgeDays * DAY_MS, maxBytes, backgroundMax: null }, NOW_MS);
        expect(again.chosen).toEqual([]);
      }),
    );
  });
});

test("the last real interaction counts; rows without one say when they were written", () => {
  const row = { sessionId: "s", sessionFile: "s.jsonl", updatedAt: 30, sessionStartedAt: 10 };
  expect(lastSpokenMs({ ...row, lastInteractionAt: 20 }, 99)).toBe(20);
  expect(lastSpokenMs(row, 99)).toBe(30);
  expect(lastSpokenMs({ sessionId: "s", sessionFile: "s.jsonl" }, 99)).toBe(99);
});

test("schedules, subagents and spawned helpers are background work; people's chats are not", () => {
  const row = { sessionId: "s", sessionFile: "s.jsonl" };
  expect(isBackground("agent:main:cron:daily", row)).toBe(true);
  expect(isBackground("agent:main:subagent:1", row)).toBe(true);
  expect(isBackground("agent:main:telegram:direct:1", { ...row, spawnedBy: "agent:main:main" })).toBe(true);
  expect(isBackground("agent:main:telegram:direct:1", row)).toBe(false);
});
