/** The projection's own rules; that it equals Pi's on well-formed files is shown in differential/pi.test.ts. */
import { describe, expect, test } from "vitest";
import { fieldsOf } from "../src/entry.ts";
import { contextStart, project, settingsIn } from "../src/projection.ts";
import { answer, compaction, custom, make, message, user } from "./support/make.ts";

const base = [user("u1", null, "1"), answer("a1", "u1", "1"), user("u2", "a1", "2")];

describe("where the context begins", () => {
  test("without a compaction, at the beginning", () => {
    expect(contextStart(base)).toEqual({ compaction: -1, from: 0, found: true });
  });
  test("at the first kept entry", () => {
    expect(contextStart([...base, compaction("k", "u2", "a1")])).toEqual({ compaction: 3, from: 1, found: true });
  });
  test("at the compaction, when it keeps nothing", () => {
    expect(contextStart([...base, compaction("k", "u2", "k")])).toEqual({ compaction: 3, from: 3, found: true });
  });
  test("after the compaction before, when the kept entry is not on the path", () => {
    const path = [compaction("k0", null, "k0"), ...base, compaction("k", "u2", "lost")];
    expect(contextStart(path)).toEqual({ compaction: 4, from: 1, found: false });
    const { messages, report } = project(path, { whole: true });
    expect(messages).toHaveLength(4);
    expect(report.notes?.[0]).toContain("compaction k names a kept entry that is not on this path");
  });
  test("an entry kept after its compaction does not count", () => {
    expect(contextStart([compaction("k", null, "u1"), ...base]).found).toBe(false);
  });
});

test("the report says what went in, what did not, and why", () => {
  const path = [
    user("u0", null, "old"),
    message("s", "u0", { role: "system", content: "prompt" }),
    compaction("k0", "s", "u0"),
    user("u1", "k0", "1"),
    custom("x", "u1", "state"),
    make("branch_summary", "b", "x", { fromId: "u0", summary: "" }),
    answer("a1", "b", "1"),
    make("context_edit", "e", "a1", { targetId: "u1", replacement: null }),
    compaction("k", "e", "s"),
    user("u2", "k", "2"),
  ];
  const { report, entryIds } = project(path, { whole: true });
  expect(entryIds).toEqual(["k", "a1", "u2"]);
  expect(report).toMatchObject({ leaf: "u2", included: ["k", "a1", "u2"], compaction: "k", messages: 3, notes: [] });
  expect(report.leftOut).toEqual([
    { id: "u0", why: "compacted" },
    { id: "s", why: "compacted" },
    { id: "k0", why: "older_compaction" },
    { id: "u1", why: "edited_away" },
    { id: "x", why: "not_for_the_model" },
    { id: "b", why: "not_for_the_model" },
    { id: "e", why: "not_for_the_model" },
  ]);
});

test("an empty path", () => {
  const { messages, report, thinkingLevel, model } = project([], { whole: true });
  expect([messages, report.leaf, report.compaction, thinkingLevel, model]).toEqual([[], null, null, "off", null]);
});

test("damaged entries contribute nothing and disturb nothing", () => {
  const path = [
    ...base,
    make("message", "x1", "u2"),
    make("custom_message", "x2", "x1", { customType: "c", content: 7 }),
    make("context_edit", "x3", "x2", { targetId: "u1", replacement: 7 }),
    make("context_edit", "x4", "x3", { targetId: 7, replacement: null }),
    make("branch_summary", "x5", "x4"),
    make("thinking_level_change", "x6", "x5"),
  ];
  const context = project(path, { whole: true });
  expect(context.entryIds).toEqual(["u1", "a1", "u2"]);
  expect(context.messages[0]).toEqual(fieldsOf(user("u1", null, "1")).message);
  expect(context.thinkingLevel).toBe("off");
});

describe("settings", () => {
  const change = make("model_change", "m", null, { provider: "p1", modelId: "m1" });
  const level = make("thinking_level_change", "l", "m", { thinkingLevel: "high" });

  test("the last change or answer counts", () => {
    expect(settingsIn([change, level])).toEqual({ model: { provider: "p1", modelId: "m1" }, thinkingLevel: "high" });
    expect(settingsIn([change, level, ...base]).model).toEqual({ provider: "p", modelId: "m" });
    expect(settingsIn([])).toEqual({ model: null, thinkingLevel: null });
  });

  test("of a part: given, or unknown", () => {
    const part = [user("u", "above", "x")];
    expect(project(part, { whole: false })).toMatchObject({ model: null, thinkingLevel: null });
    const earlier = { model: { provider: "p1", modelId: "m1" }, thinkingLevel: null };
    expect(project(part, { whole: false, earlier })).toMatchObject({ model: earlier.model, thinkingLevel: "off" });
    expect(project(part, { whole: false, earlier: { model: null, thinkingLevel: "low" } }).thinkingLevel).toBe("low");
  });

  test("a compaction may say what was in force; what is no text says nothing", () => {
    const carried = (inForce: unknown) => compaction("c", "l", "c", { inForce });
    const known = { provider: "p2", modelId: "m2", thinkingLevel: "low" };
    const model = { provider: "p2", modelId: "m2" };
    expect(settingsIn([carried(known)])).toEqual({ model, thinkingLevel: "low" });
    expect(settingsIn([change, level, carried(known)])).toEqual({ model, thinkingLevel: "low" });
    expect(settingsIn([carried(known), change, level]).thinkingLevel).toBe("high");
    for (const other of [undefined, null, "x", {}, { modelId: 1, thinkingLevel: 2 }]) {
      expect(settingsIn([carried(other)])).toEqual({ model: null, thinkingLevel: null });
    }
    expect(settingsIn([make("thinking_level_change", "l", "m")]).thinkingLevel).toBe(null);
  });
});

test("tokens are estimated for what is in it", () => {
  const { report } = project([user("u", null, "x".repeat(400))], { whole: true });
  expect(report.approximateTokens).toBeGreaterThanOrEqual(100);
});
