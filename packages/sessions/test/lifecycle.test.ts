/** Look-ups case by case and against a simple model; the three times and who moves them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterBackgroundTurn, afterHumanMessage, explainLookUp, type LookUpFacts, lookUp } from "../src/lifecycle.ts";
import { type ResetSettings, resetPolicy } from "../src/reset-policy.ts";
import type { SessionRow } from "../src/types.ts";
import { nextDaily } from "../src/wall-clock.ts";

const at = (iso: string): number => Date.parse(iso);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = at("2026-05-20T10:00:00Z");
const MAIN = "agent:main:main";
const HELPER = "agent:main:subagent:1";
const ZONE = "Asia/Shanghai";

function row(fields: Partial<SessionRow> = {}): SessionRow {
  return { sessionId: "s-1", sessionFile: "s-1.jsonl", ...fields };
}

type Ask = Partial<Omit<LookUpFacts, "policy">> & { readonly reset?: ResetSettings["reset"] };
function find({ reset, ...ask }: Ask) {
  const key = ask.key ?? MAIN;
  const policy = resetPolicy(reset === undefined ? {} : { reset }, { key, row: ask.row }, ZONE);
  const facts: LookUpFacts = {
    key,
    row: undefined,
    by: "person",
    nowMs: NOW,
    leaseLive: false,
    fileThere: true,
    ...ask,
    policy,
  };
  const found = lookUp(facts);
  return { ...found, text: explainLookUp(found, policy) };
}

describe("new", () => {
  test("no row", () => {
    expect(find({})).toMatchObject({ kind: "new", reason: "no_row", text: /^New: / });
  });
  test("a row that was made and a transcript that was not", () => {
    const opening = row({ state: "opening", sessionStartedAt: NOW });
    expect(find({ row: opening, fileThere: false })).toMatchObject({ kind: "new", reason: "never_begun" });
    expect(find({ row: opening, fileThere: false }).text).toMatch(/never begun/);
    expect(find({ row: opening })).toMatchObject({ kind: "resumed" });
  });
});

describe("resumed", () => {
  const old = row({ sessionStartedAt: NOW - 900 * DAY_MS, lastInteractionAt: NOW - 800 * DAY_MS });
  test("without a policy nothing is ever too old", () => {
    expect(find({ row: old })).toMatchObject({ kind: "resumed", reason: "no_policy", resetAtMs: null });
  });
  test("idle without a time is no policy", () => {
    expect(find({ row: old, reset: { mode: "idle" } })).toMatchObject({ kind: "resumed", reason: "no_policy" });
  });
  test("fresh, and until when", () => {
    const fresh = row({ sessionStartedAt: NOW - HOUR_MS, lastInteractionAt: NOW - MINUTE_MS });
    const found = find({ row: fresh, reset: { mode: "both", idle: "30m" } });
    expect(found).toMatchObject({ kind: "resumed", reason: "fresh", resetAtMs: NOW + 29 * MINUTE_MS });
    expect(found.text).toBe("Resumed: no reset is due; reset due 2026-05-20T10:29:00.000Z.");
  });
  test("a row without any usable time is not reset on a guess", () => {
    for (const time of [undefined, null, "2026-01-01", Number.NaN, Number.POSITIVE_INFINITY, -5, 0]) {
      const bare = { ...row(), sessionStartedAt: time, lastInteractionAt: time, updatedAt: time } as SessionRow;
      const found = find({ row: bare, reset: { mode: "both", idle: "1m" } });
      expect(found).toMatchObject({ kind: "resumed", reason: "unknown_age", resetAtMs: null });
    }
  });
  test("background work goes on where it is, also when a reset is due, and says so", () => {
    const found = find({ row: old, by: "background", reset: { mode: "both", idle: "1h" } });
    expect(found).toMatchObject({ kind: "resumed", reason: "background" });
    expect(found.text).toMatch(/background work goes on/);
    expect(find({ row: old, reset: { mode: "both", idle: "1h" } }).kind).toBe("reset");
  });
});

describe("reset", () => {
  test("daily: by when it began, not by who wrote last", () => {
    const active = row({ sessionStartedAt: at("2026-05-19T14:00:00Z"), lastInteractionAt: NOW, updatedAt: NOW });
    const found = find({ row: active, reset: { mode: "daily" } });
    expect(found).toMatchObject({ kind: "reset", reason: "daily", dueAtMs: at("2026-05-19T20:00:00Z") });
    expect(found.text).toBe(
      "Reset: daily at 4:00 in Asia/Shanghai (reset, default); due since 2026-05-19T20:00:00.000Z.",
    );
  });
  test("one that began at the very hour belongs to the new day", () => {
    const began = at("2026-05-19T20:00:00Z");
    expect(find({ row: row({ sessionStartedAt: began }), reset: { mode: "daily" } }).kind).toBe("resumed");
    expect(find({ row: row({ sessionStartedAt: began - 1 }), reset: { mode: "daily" } }).kind).toBe("reset");
  });
  test("idle: by the last interaction only", () => {
    const last = row({ sessionStartedAt: NOW - 9 * HOUR_MS, lastInteractionAt: NOW - HOUR_MS, updatedAt: NOW });
    const found = find({ row: last, reset: { mode: "idle", idle: "60m" } });
    expect(found).toMatchObject({ kind: "reset", reason: "idle", dueAtMs: NOW });
    expect(found.text).toBe("Reset: idle for 60 min (reset); due since 2026-05-20T10:00:00.000Z.");
    expect(find({ row: last, nowMs: NOW - 1, reset: { mode: "idle", idle: "60m" } }).kind).toBe("resumed");
  });
  test("both: whichever came first is the reason", () => {
    const both = { mode: "both", idle: "3h" } as const;
    const evening = at("2026-05-19T15:00:00Z");
    const hours = (count: number) => row({ sessionStartedAt: evening, lastInteractionAt: evening + count * HOUR_MS });
    expect(find({ row: hours(1), reset: both })).toMatchObject({ reason: "idle", dueAtMs: evening + 4 * HOUR_MS });
    expect(find({ row: hours(2), reset: both })).toMatchObject({ reason: "daily", dueAtMs: evening + 5 * HOUR_MS });
    expect(find({ row: hours(4), reset: both })).toMatchObject({ reason: "daily" });
    expect(find({ row: hours(1), reset: { mode: "both" } })).toMatchObject({ reason: "daily" });
  });
  test("idle does not look at the day, daily not at idleness", () => {
    const week = row({ sessionStartedAt: NOW - 7 * DAY_MS, lastInteractionAt: NOW - MINUTE_MS });
    expect(find({ row: week, reset: { mode: "idle", idle: "1h" } }).kind).toBe("resumed");
    const quiet = row({ sessionStartedAt: NOW - 2 * HOUR_MS, lastInteractionAt: NOW - 2 * HOUR_MS });
    expect(find({ row: quiet, reset: { mode: "daily", idle: "1h" } }).kind).toBe("resumed");
  });
});

describe("old rows and wrong clocks", () => {
  const both = { mode: "both", idle: "1h" } as const;
  test.each<[string, Partial<SessionRow>, string]>([
    ["a missing start: the last interaction stands in", { lastInteractionAt: NOW - 2 * DAY_MS }, "reset"],
    ["a missing interaction: the start stands in", { sessionStartedAt: NOW - 2 * HOUR_MS, updatedAt: NOW }, "reset"],
    ["only the last write, long ago: certainly older", { updatedAt: NOW - 2 * DAY_MS }, "reset"],
    ["only the last write, just now", { updatedAt: NOW }, "resumed"],
  ])("%s", (_what, fields, kind) => {
    expect(find({ row: row(fields), reset: both }).kind).toBe(kind);
  });
  test("a clock that was set back does not end a conversation that is going on", () => {
    const talking = row({
      sessionStartedAt: NOW - 5 * HOUR_MS,
      lastInteractionAt: NOW + 2_000,
      updatedAt: NOW + 2_000,
    });
    expect(find({ row: talking, reset: both })).toMatchObject({ kind: "resumed", reason: "fresh" });
  });
  test("a time from the future keeps nothing alive: the next write puts a true one in its place", () => {
    const ahead = row({ sessionStartedAt: NOW + 900 * DAY_MS, lastInteractionAt: NOW + 900 * DAY_MS });
    for (const touched of [afterBackgroundTurn(ahead, NOW), afterHumanMessage(ahead, NOW)]) {
      expect(touched).toMatchObject({ sessionStartedAt: NOW, lastInteractionAt: NOW, updatedAt: NOW });
      expect(find({ row: touched, nowMs: NOW + 2 * HOUR_MS, reset: both }).kind).toBe("reset");
    }
  });
});

describe("abnormal", () => {
  test.each([
    ["failed", false, "failed"],
    ["timeout", false, "timeout"],
    ["killed", false, "killed"],
    ["running", false, "interrupted"],
  ] as const)("a helper whose last run is %s", (status, leaseLive, reason) => {
    const found = find({ key: HELPER, row: row({ status }), leaseLive });
    expect(found).toMatchObject({ kind: "abnormal", reason, text: /^Abnormal: the last run / });
  });
  test.each(["done", "aborted", undefined] as const)("a helper whose last run is %s is resumed", (status) => {
    expect(find({ key: HELPER, row: status === undefined ? row() : row({ status }) }).kind).toBe("resumed");
  });
  test("a helper that runs is resumed", () => {
    expect(find({ key: HELPER, row: row({ status: "running" }), leaseLive: true }).kind).toBe("resumed");
  });
  test("a look-up of a kind that does not exist is a fault, not a sentence", () => {
    const policy = resetPolicy({}, { key: MAIN, row: undefined }, ZONE);
    expect(() => explainLookUp({ kind: "lost" } as never, policy)).toThrow(/lost/);
  });
  test("it is not reset instead, and not hidden from background work", () => {
    const old = row({ status: "failed", sessionStartedAt: NOW - 9 * DAY_MS });
    expect(find({ key: HELPER, row: old, reset: { mode: "daily" } }).kind).toBe("abnormal");
    expect(find({ key: HELPER, row: old, by: "background" }).kind).toBe("abnormal");
  });
  test.each(["running", "failed", "killed", "timeout"] as const)("a main session that is %s is resumed", (status) => {
    for (const key of [MAIN, "agent:main:telegram:group:1", "agent:main:cron:1"]) {
      expect(find({ key, row: row({ status }) }).kind).toBe("resumed");
    }
  });
});

describe("against a model", () => {
  const time = fc.option(fc.integer({ min: NOW - 3 * DAY_MS, max: NOW + DAY_MS }), { nil: undefined });
  const rows = fc.record(
    { sessionStartedAt: time, lastInteractionAt: time, updatedAt: time },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Partial<SessionRow>>;
  const reset = fc.record({
    mode: fc.constantFrom("none", "daily", "idle", "both"),
    atHour: fc.nat(23),
    idle: fc.constantFrom(null, "15m", "3h", "2d"),
    timezone: fc.constantFrom("Asia/Shanghai", "America/New_York"),
  }) as fc.Arbitrary<NonNullable<ResetSettings["reset"]>>;
  const IDLE_MS: Record<string, number> = { "15m": 15 * MINUTE_MS, "3h": 3 * HOUR_MS, "2d": 2 * DAY_MS };

  test("a person's message resets exactly when a rule of the mode in force is past", () => {
    fc.assert(
      fc.property(rows, reset, (fields, policy) => {
        const past = (ms?: number) => (ms === undefined ? undefined : Math.min(ms, NOW));
        const [s, l, u] = [fields.sessionStartedAt, fields.lastInteractionAt, fields.updatedAt].map(past);
        const [began, last] = [s ?? l ?? u, l ?? s ?? u];
        const daily =
          began !== undefined &&
          nextDaily(policy.timezone ?? "", policy.atHour ?? 4, began) <= NOW &&
          policy.mode !== "idle";
        const idleMs = IDLE_MS[String(policy.idle)];
        const idle = last !== undefined && idleMs !== undefined && last + idleMs <= NOW && policy.mode !== "daily";
        const expected = policy.mode !== "none" && (daily || idle);
        expect(find({ row: row(fields), reset: policy }).kind).toBe(expected ? "reset" : "resumed");
      }),
      { numRuns: 500 },
    );
  });

  test("background work changes nothing that a person will find later, however often it comes", () => {
    const later = fc.array(fc.nat(6 * HOUR_MS), { maxLength: 6 });
    fc.assert(
      fc.property(rows, reset, later, fc.nat(2 * DAY_MS), (fields, policy, waits, more) => {
        let touched = afterBackgroundTurn(row(fields), NOW);
        let nowMs = NOW;
        for (const wait of waits) {
          nowMs += wait;
          touched = afterBackgroundTurn(touched, nowMs);
        }
        const meet = (found: SessionRow) => find({ row: found, reset: policy, nowMs: nowMs + more });
        const known = [fields.sessionStartedAt, fields.lastInteractionAt, fields.updatedAt].filter(
          (ms) => ms !== undefined,
        );
        fc.pre(known.length > 0 && known.every((ms) => ms <= NOW));
        expect(meet(touched)).toEqual(meet(row(fields)));
        expect(touched.updatedAt).toBe(nowMs);
      }),
      { numRuns: 300 },
    );
  });

  test("a person's message keeps the start, and is the last interaction", () => {
    fc.assert(
      fc.property(rows, fc.nat(5 * DAY_MS), (fields, wait) => {
        const nowMs = NOW + DAY_MS + wait;
        const after = afterHumanMessage(row({ ...fields, label: "x" }), nowMs);
        const known = fields.sessionStartedAt ?? fields.lastInteractionAt ?? fields.updatedAt ?? nowMs;
        expect(after).toEqual({
          ...row(),
          label: "x",
          sessionStartedAt: known,
          lastInteractionAt: nowMs,
          updatedAt: nowMs,
        });
      }),
    );
  });

  test("a row without times gets its last write from background work and nothing invented", () => {
    expect(afterBackgroundTurn(row(), NOW)).toEqual({ ...row(), updatedAt: NOW });
  });
});
