/** Lives and deaths of conversations that went wrong elsewhere; ids as in the collection of cases. */
import { describe, expect, test } from "vitest";
import { afterBackgroundTurn, afterHumanMessage, type LookUp, lookUp } from "../../src/lifecycle.ts";
import { checkResetSettings, type ResetSettings, resetPolicy } from "../../src/reset-policy.ts";
import type { SessionRow } from "../../src/types.ts";
import { nextDaily } from "../../src/wall-clock.ts";

const at = (iso: string): number => Date.parse(iso);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAIN = "agent:main:main";

function meets(
  row: SessionRow,
  nowMs: number,
  reset: ResetSettings["reset"] = {},
  by: "person" | "background" = "person",
): LookUp {
  const policy = resetPolicy({ reset }, { key: MAIN, row }, "UTC");
  return lookUp({ key: MAIN, row, policy, by, nowMs, leaseLive: false, fileThere: true });
}
function began(iso: string, fields: Partial<SessionRow> = {}): SessionRow {
  return {
    sessionId: "s-7",
    sessionFile: "s-7.jsonl",
    ...fields,
    sessionStartedAt: at(iso),
    lastInteractionAt: at(iso),
    updatedAt: at(iso),
  };
}

describe("session lost", () => {
  test("B003 a main session that is not running is resumed after a restart; only a policy resets, with a reason", () => {
    const row = began("2026-05-20T10:00:00Z", { status: "done" });
    expect(meets(row, at("2026-05-20T10:10:00Z"))).toMatchObject({ kind: "resumed", reason: "no_policy" });
    expect(meets(row, at("2026-05-20T10:10:00Z"), { mode: "daily" })).toMatchObject({
      kind: "resumed",
      reason: "fresh",
    });
    const due = meets(row, at("2026-05-21T10:10:00Z"), { mode: "daily" });
    expect(due).toMatchObject({ kind: "reset", reason: "daily", dueAtMs: at("2026-05-21T04:00:00Z") });
  });

  test("B013 a row with a time that is null or a text is used without that time", () => {
    const odd = { ...began("2026-05-20T10:00:00Z"), lastInteractionAt: null, updatedAt: "2026-05-20T10:00:00Z" };
    const row = { ...odd, totalTokens: null, extra: 1 } as unknown as SessionRow;
    const found = meets(row, at("2026-05-20T10:30:00Z"), { mode: "idle", idle: "1h" });
    expect(found).toMatchObject({ kind: "resumed", reason: "fresh", resetAtMs: at("2026-05-20T11:00:00Z") });
  });

  test("B063 a status `running` that a crash left behind blocks nobody", () => {
    const row = began("2026-05-20T10:00:00Z", { status: "running", startedAt: at("2026-05-20T10:00:00Z") });
    expect(meets(row, at("2026-05-20T10:10:00Z")).kind).toBe("resumed");
  });
});

describe("resets and time zones", () => {
  test("B139 heartbeats neither hold back the daily reset nor bring it", () => {
    let row = afterHumanMessage(began("2026-05-20T21:00:00Z"), at("2026-05-20T22:00:00Z"));
    for (let now = at("2026-05-20T22:30:00Z"); now < at("2026-05-21T09:00:00Z"); now += 30 * MINUTE_MS) {
      for (const mode of ["daily", "idle", "both"] as const) {
        expect(meets(row, now, { mode, idle: "3h" }, "background").kind).toBe("resumed");
      }
      row = afterBackgroundTurn(row, now);
    }
    const morning = at("2026-05-21T09:00:00Z");
    expect(meets(row, morning, { mode: "daily" })).toMatchObject({ kind: "reset", reason: "daily" });
    expect(meets(row, morning, { mode: "idle", idle: "3h" })).toMatchObject({
      kind: "reset",
      reason: "idle",
      dueAtMs: at("2026-05-21T01:00:00Z"),
    });
  });

  test("B141 only the named zone's four o'clock counts, and its name is checked when the configuration is read", () => {
    const shanghai = { mode: "daily", atHour: 4, timezone: "Asia/Shanghai" } as const;
    const row = began("2026-05-19T10:00:00Z");
    const today = (iso: string) =>
      meets({ ...row, sessionStartedAt: at("2026-05-18T21:00:00Z") }, at(iso), shanghai).kind;
    expect(today("2026-05-19T19:59:00Z"), "03:59 in Shanghai").toBe("resumed");
    expect(today("2026-05-19T20:01:00Z"), "04:01 in Shanghai").toBe("reset");
    const after = { ...row, sessionStartedAt: at("2026-05-19T20:01:00Z") };
    expect(meets(after, at("2026-05-20T04:01:00Z"), shanghai).kind, "04:01 UTC is noon in Shanghai").toBe("resumed");
    expect(() => checkResetSettings({ reset: { timezone: "Asia/Shangai" } })).toThrow(/Asia\/Shangai/);
  });

  test("B143 an hour that comes twice is the first of the two; an offset is a zone too", () => {
    expect(nextDaily("Europe/Oslo", 2, at("2027-10-30T12:00:00Z"))).toBe(at("2027-10-31T00:00:00Z"));
    expect(nextDaily("Asia/Shanghai", 0, at("2027-03-22T12:00:00Z"))).toBe(at("2027-03-22T16:00:00Z"));
    expect(nextDaily("+05:00", 0, at("2027-03-22T12:00:00Z"))).toBe(at("2027-03-22T19:00:00Z"));
  });

  test("B145 two days of heartbeats in a chat without a reset policy move nothing", () => {
    const start = at("2026-05-20T10:00:00Z");
    let row = began("2026-05-20T10:00:00Z");
    for (let now = start; now < start + 48 * HOUR_MS; now += 30 * MINUTE_MS) {
      expect(meets(row, now, {}, "background")).toMatchObject({ kind: "resumed", reason: "background" });
      row = afterBackgroundTurn(row, now);
    }
    expect(row).toMatchObject({ sessionId: "s-7", sessionStartedAt: start, lastInteractionAt: start });
    expect(meets(row, start + 48 * HOUR_MS)).toMatchObject({ kind: "resumed", reason: "no_policy" });
  });
});
