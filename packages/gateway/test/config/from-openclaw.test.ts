/** OpenClaw's session settings as ours: each item carried or left with a reason, and what is proposed is valid. */
import { describe, expect, test } from "vitest";
import { checkText } from "../../src/config/check.ts";
import { settingsFromOpenClaw } from "../../src/config/from-openclaw.ts";

const from = (session: object) => settingsFromOpenClaw(JSON.stringify({ session }));
const carried = (session: object) => Object.fromEntries(from(session).carried.map(({ to, value }) => [to, value]));

test("every setting of the section is carried or left, once, and what is proposed is valid", () => {
  const text = `{
    // JSON5, as people write it
    session: {
      dmScope: 'per-channel-peer', mainKey: 'main', scope: 'per-sender',
      reset: { mode: 'daily', atHour: 5, idleMinutes: 90 },
      resetByType: { group: { mode: 'idle', idleMinutes: 30 }, direct: {} },
      resetByChannel: { telegram: { idleMinutes: 0 } },
      identityLinks: { ann: ['telegram:1', 'discord:2'], bob: ['77'], eve: ['88', 'slack:9'] },
      maintenance: { mode: 'warn', pruneAfter: 45, maxEntries: 500, maxDiskBytes: '2gb', coldStorage: { enabled: true } },
      writeLock: { acquireTimeoutMs: 5000, other: 1 }, sendPolicy: { default: 'allow' }, agentToAgent: { maxPingPongTurns: 3 },
    },
    channels: { telegram: { botToken: 'secret' } }, $schema: 'x',
  }`;
  const { carried: items, left, notes, proposal } = settingsFromOpenClaw(text);
  expect(checkText(proposal ?? "", {})).toMatchObject({ ok: true });
  expect(JSON.parse(proposal ?? "")).toEqual({
    sessions: {
      reset: { mode: "both", atHour: 5, idle: "90m" },
      resetByType: { group: { mode: "idle", idle: "30m" }, dm: { mode: "both", atHour: 5, idle: "90m" } },
      resetByChannel: { telegram: { mode: "daily", atHour: 4 } },
      dmScope: "per-channel-peer",
      identityLinks: { ann: ["telegram:1", "discord:2"], eve: ["slack:9"] },
      retention: { mode: "report", maxAge: "45d", maxSize: "2gb" },
      writeLock: { timeoutMs: 5000 },
    },
  });
  expect(items.map(({ from: name }) => name)).toHaveLength(new Set(items.map(({ from: name }) => name)).size);
  expect(left.map(({ from: name }) => name)).toEqual([
    "session.mainKey",
    "session.scope",
    "session.identityLinks.bob",
    "session.identityLinks.eve",
    "session.maintenance.maxEntries",
    "session.maintenance.coldStorage",
    "session.writeLock.other",
    "session.sendPolicy",
    "session.agentToAgent",
    "channels",
  ]);
  expect(left.every(({ why }) => why.length > 10)).toBe(true);
  expect(notes).toEqual([]);
  expect(JSON.stringify({ left, items })).not.toContain("secret");
});

describe("reset policies begin anew at the same moments", () => {
  test.each([
    ["minutes alone", { idleMinutes: 60 }, { "sessions.reset": { mode: "idle", idle: "60m" } }],
    ["no mode", { reset: { atHour: 30 } }, { "sessions.reset": { mode: "daily", atHour: 23 } }],
    ["idle without minutes never", { reset: { mode: "idle" } }, { "sessions.reset": { mode: "none" } }],
    ["none", { reset: { mode: "none", idleMinutes: 5 } }, { "sessions.reset": { mode: "none" } }],
    [
      "minutes beside a reset count too",
      { reset: {}, idleMinutes: 7 },
      { "sessions.reset": { mode: "both", atHour: 4, idle: "7m" } },
    ],
  ])("%s", (_name, session, expected) => expect(carried(session)).toEqual(expected));
});

test("a value that cannot be is left with our reason, and nothing set is said to differ", () => {
  const { carried: none, left, notes, proposal } = from({ dmScope: "per-moon", maintenance: { pruneAfter: "soon" } });
  expect(none).toEqual([]);
  expect(left.map(({ from: name }) => name)).toEqual(["session.dmScope", "session.maintenance.pruneAfter"]);
  expect(proposal).toBeNull();
  expect(notes).toEqual([expect.stringContaining("session.reset was not set")]);
  expect(from({}).notes).toHaveLength(2);
  expect(settingsFromOpenClaw("{ broken")).toMatchObject({ left: [{ from: "openclaw.json", why: "it is not JSON5" }] });
});
