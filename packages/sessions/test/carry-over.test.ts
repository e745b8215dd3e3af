/** What a reset keeps and drops, field by field. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterReset, ON_RESET } from "../src/carry-over.ts";
import type { SessionRow } from "../src/types.ts";

const NOW = Date.parse("2026-05-20T10:00:00Z");
const NEXT = { sessionId: "s-2", sessionFile: "s-2.jsonl", reason: "daily", nowMs: NOW } as const;

function row(fields: Readonly<Record<string, unknown>> = {}): SessionRow {
  return {
    sessionId: "s-1",
    sessionFile: "s-1.jsonl",
    sessionStartedAt: 1,
    lastInteractionAt: 2,
    updatedAt: 3,
    ...fields,
  };
}
const SET_ANEW = {
  sessionId: "s-2",
  sessionFile: "s-2.jsonl",
  state: "opening",
  sessionStartedAt: NOW,
  lastInteractionAt: NOW,
  updatedAt: NOW,
  previousSessionId: "s-1",
  resetReason: "daily",
};

describe("after a reset", () => {
  test("identity and times are new; the one before is named", () => {
    expect(afterReset(row(), NEXT)).toEqual(SET_ANEW);
  });

  test("what somebody set stays, what describes the old transcript goes", () => {
    const chosen = {
      thinkingLevel: "high",
      label: "Garden",
      modelOverride: "m",
      providerOverride: "p",
      queueMode: "collect",
    };
    const gone = {
      compactionCount: 3,
      totalTokens: 9,
      status: "failed",
      abortedLastRun: true,
      model: "m2",
      elevatedLevel: "full",
    };
    expect(afterReset(row({ ...chosen, ...gone }), NEXT)).toEqual({ ...SET_ANEW, ...chosen });
  });

  test("the same for whoever asked: a daily reset loses no more than /new", () => {
    const before = row({ label: "x", verboseLevel: "on", totalTokens: 5 });
    const { resetReason: daily, ...rest } = afterReset(before, NEXT);
    const { resetReason: typed, ...same } = afterReset(before, { ...NEXT, reason: "new" });
    expect([daily, typed]).toEqual(["daily", "new"]);
    expect(rest).toEqual(same);
  });

  const model = { providerOverride: "p", modelOverride: "m" };
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["chosen by a person", { ...model, modelOverrideSource: "user" }, { ...model, modelOverrideSource: "user" }],
    ["left by a failover", { ...model, modelOverrideSource: "auto" }, {}],
    ["of an older row", model, model],
    ["of an older row with a trace of failover", { ...model, modelOverrideFallbackOriginModel: "m0" }, {}],
    ["of an older row with another trace", { ...model, modelOverrideFallbackOriginProvider: "p0" }, {}],
    [
      "a profile chosen by a person",
      { authProfileOverride: "a", authProfileOverrideSource: "user" },
      { authProfileOverride: "a", authProfileOverrideSource: "user" },
    ],
    ["a profile left by a failover", { authProfileOverride: "a", authProfileOverrideSource: "auto" }, {}],
    ["a profile of an older row", { authProfileOverride: "a" }, { authProfileOverride: "a" }],
  ])("a model %s", (_what, before, kept) => {
    expect(afterReset(row(before), NEXT)).toEqual({ ...SET_ANEW, ...kept });
  });

  test("every known field has one fate and is treated by it, alone and among others", () => {
    fc.assert(
      fc.property(fc.subarray([...ON_RESET.keys()].filter((field) => !/Override/.test(field))), (fields) => {
        const before = row(Object.fromEntries(fields.map((field) => [field, "v"])));
        const kept = fields.filter((field) => ON_RESET.get(field) === "keep");
        expect(afterReset(before, NEXT)).toEqual({
          ...Object.fromEntries(kept.map((field) => [field, "v"])),
          ...SET_ANEW,
        });
      }),
    );
  });

  test("fields nobody knows are carried through untouched, and the old row is not changed", () => {
    const before = Object.freeze(row({ pinnedAt: 5, plugin: { deep: [1] }, constructor: "x" }));
    expect(afterReset(before, NEXT)).toMatchObject({ pinnedAt: 5, plugin: { deep: [1] }, constructor: "x" });
  });

  test("a second reset names the second conversation", () => {
    const twice = afterReset(afterReset(row(), NEXT), { ...NEXT, sessionId: "s-3", reason: "reset" });
    expect(twice).toMatchObject({ sessionId: "s-3", previousSessionId: "s-2", resetReason: "reset" });
  });
});
