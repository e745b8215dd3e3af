/** Which reset policy applies, and from where: every place, every field, every wrong value. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkResetSettings, type ResetSettings, resetPolicy } from "../src/reset-policy.ts";
import type { SessionRow } from "../src/types.ts";

const HOUR_MS = 3_600_000;
const DM = "agent:main:telegram:direct:7";
const GROUP = "agent:main:telegram:group:7";
const CHANNEL = "agent:main:discord:channel:7";
const THREAD = "agent:main:telegram:group:7:thread:42";
const MAIN = "agent:main:main";

function policy(settings: ResetSettings, key = DM, fields: Partial<SessionRow> = {}) {
  const row = Object.keys(fields).length === 0 ? undefined : { sessionId: "s", sessionFile: "s.jsonl", ...fields };
  return resetPolicy(settings, { key, row }, "Europe/Berlin");
}

describe("which policy", () => {
  test("without settings: none, four in the morning, the machine's zone", () => {
    expect(policy({})).toEqual({
      mode: "none",
      atHour: 4,
      idleMs: null,
      timezone: "Europe/Berlin",
      from: { mode: "default", atHour: "default", idle: "default", timezone: "default" },
    });
  });

  test("each field comes from the most specific place that names it", () => {
    const settings: ResetSettings = {
      reset: { mode: "daily", atHour: 5, idle: "2h", timezone: "Asia/Shanghai" },
      resetByType: { dm: { mode: "both", idle: "1h" } },
      resetByChannel: { telegram: { mode: "idle" } },
    };
    expect(policy(settings)).toEqual({
      mode: "idle",
      atHour: 5,
      idleMs: HOUR_MS,
      timezone: "Asia/Shanghai",
      from: { mode: "resetByChannel.telegram", atHour: "reset", idle: "resetByType.dm", timezone: "reset" },
    });
  });

  const byType: ResetSettings = {
    resetByType: { dm: { atHour: 1 }, group: { atHour: 2, mode: "daily" }, thread: { atHour: 3 } },
  };
  test.each<[string, string, Partial<SessionRow>, number]>([
    ["a direct chat", DM, {}, 1],
    ["a group", GROUP, {}, 2],
    ["a channel", CHANNEL, {}, 2],
    ["a thread", THREAD, {}, 3],
    ["the main session", MAIN, {}, 1],
    ["the main session of a group", MAIN, { chatType: "group" }, 2],
    ["the main session of a thread", MAIN, { chatType: "thread" }, 3],
    ["a schedule", "agent:main:cron:daily", {}, 1],
    ["a helper", "agent:main:subagent:1", {}, 1],
    ["a key of another kind", "agent:main:web:dashboard", {}, 1],
  ])("%s has its type", (_what, key, row, hour) => {
    expect(policy(byType, key, row).atHour).toBe(hour);
  });

  test("a thread takes what it does not say itself from the chat it belongs to", () => {
    expect(policy(byType, THREAD).mode).toBe("daily");
    expect(policy(byType, THREAD).from.mode).toBe("resetByType.group");
  });
  test("`direct` is another word for `dm`; where both are written `dm` wins", () => {
    expect(policy({ resetByType: { direct: { mode: "daily" } } }).mode).toBe("daily");
    expect(policy({ resetByType: { direct: { atHour: 7 }, dm: { atHour: 8 } } }).atHour).toBe(8);
  });
  test("the main session has the channel that its row names", () => {
    const settings: ResetSettings = { resetByChannel: { web: { mode: "daily" } } };
    expect(policy(settings, MAIN, { channel: "web" }).from.mode).toBe("resetByChannel.web");
    expect(policy(settings, MAIN, { channel: "toString" }).mode).toBe("none");
    expect(policy(settings, MAIN).mode).toBe("none");
  });
  test("null is a value: never idle, the machine's zone", () => {
    const settings: ResetSettings = {
      reset: { mode: "idle", idle: "1h", timezone: "Asia/Shanghai" },
      resetByType: { dm: { idle: null, timezone: null }, group: undefined },
    };
    expect(policy(settings)).toMatchObject({ idleMs: null, timezone: "Europe/Berlin" });
    expect(policy(settings, GROUP)).toMatchObject({ idleMs: HOUR_MS, timezone: "Asia/Shanghai" });
  });
  test("idle may be a number of milliseconds; 0 means never", () => {
    expect(policy({ reset: { idle: 90_000 } }).idleMs).toBe(90_000);
    expect(policy({ reset: { idle: 0 } }).idleMs).toBeNull();
  });
});

describe("wrong settings", () => {
  const wrong: readonly (readonly [string, object])[] = [
    ["mode", { mode: "weekly" }],
    ["atHour", { atHour: 24 }],
    ["atHour", { atHour: -1 }],
    ["atHour", { atHour: 4.5 }],
    ["atHour", { atHour: Number.NaN }],
    ["idle", { idle: "soon" }],
    ["idle", { idle: -1 }],
    ["timezone", { timezone: "Mars/Olympus" }],
    ["timezone", { timezone: "" }],
  ];
  test.each(wrong)("%s in %j is refused when read and when applied, naming the setting", (field, fields) => {
    const settings = { resetByType: { dm: fields } } as ResetSettings;
    const refusal = expect.objectContaining({
      code: "bad_reset",
      details: expect.objectContaining({ setting: `sessions.resetByType.dm.${field}` }),
    });
    expect(() => checkResetSettings(settings)).toThrow(refusal);
    expect(() => policy(settings)).toThrow(refusal);
    expect(() => checkResetSettings({ reset: fields } as ResetSettings)).toThrow(/sessions\.reset\./);
    expect(() => checkResetSettings({ resetByChannel: { x: fields } } as ResetSettings)).toThrow(/resetByChannel\.x/);
  });
  test("right ones pass", () => {
    checkResetSettings({});
    checkResetSettings({
      reset: { mode: "both", atHour: 0, idle: "90m", timezone: "Asia/Shanghai" },
      resetByType: { dm: {}, group: undefined, thread: { idle: null, timezone: null } },
    });
  });
  test("whatever passes the check can be applied to every key", () => {
    const fields = fc.record(
      {
        mode: fc.constantFrom("none", "daily", "idle", "both", "x"),
        atHour: fc.constantFrom(0, 4, 23, 24, 1.5),
        idle: fc.constantFrom(null, 0, 5, "90m", "x"),
        timezone: fc.constantFrom(null, "UTC", "Asia/Shanghai", "x"),
      },
      { requiredKeys: [] },
    );
    const all = fc.record({
      reset: fields,
      resetByType: fc.dictionary(fc.constantFrom("dm", "group", "thread"), fields),
    });
    fc.assert(
      fc.property(all, fc.constantFrom(DM, GROUP, THREAD, MAIN), (settings, key) => {
        try {
          checkResetSettings(settings as ResetSettings);
        } catch {
          return;
        }
        policy(settings as ResetSettings, key);
      }),
    );
  });
});
