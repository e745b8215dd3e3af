/** Session keys and ids: what is understood, and what is refused with which reason. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSessionId, formatSessionKey, isSessionId, isSessionKey, parseSessionKey } from "../src/key.ts";

describe("keys", () => {
  const chat = { kind: "chat", channel: "telegram", chatType: "direct", chat: "7", thread: null } as const;
  test.each([
    ["agent:main:main", { kind: "main" }],
    ["agent:main:telegram:direct:7", chat],
    ["agent:main:telegram:group:7:thread:9", { ...chat, chatType: "group", thread: "9" }],
    ["agent:main:discord:channel:a:b", { ...chat, channel: "discord", chatType: "channel", chat: "a:b" }],
    ["agent:main:cron:nightly", { kind: "cron", id: "nightly" }],
    ["agent:main:subagent:a:b", { kind: "subagent", id: "a:b" }],
    ["agent:main:飞书:direct:張三", { ...chat, channel: "飞书", chat: "張三" }],
    ["agent:main:something", { kind: "other" }],
    ["agent:main:group:7", { kind: "other" }],
  ])("%s", (key, place) => {
    expect(parseSessionKey(key)).toEqual({ agentId: "main", rest: key.slice("agent:main:".length), place });
    expect(isSessionKey(key)).toBe(true);
  });

  test.each([
    ["", "does not begin"],
    ["main", "does not begin"],
    ["agent:main", "does not begin"],
    ["user:main:x", "does not begin"],
    ["agent::x", "agent's id"],
    ["agent:../x:y", "agent's id"],
    ["agent:main:", "empty part"],
    ["agent:main:a::b", "empty part"],
    ["agent:main:a: ", "empty part"],
    ["agent:main:../../etc/passwd", "looks like a path"],
    ["agent:main:a:..", "looks like a path"],
    ["agent:main:a/./b", "looks like a path"],
    ["agent:main:a\\..\\b", "looks like a path"],
    ["agent:main:a\nb", "control characters"],
    ["agent:main:a\u0000", "control characters"],
    ["agent:main:\ud800", "half a character"],
    [`agent:main:${"x".repeat(600)}`, "longer than"],
    [7 as unknown as string, "not a text"],
  ])("%j is refused", (key, reason) => {
    expect(() => parseSessionKey(key)).toThrow(
      expect.objectContaining({ code: "bad_key", message: expect.stringContaining(reason) }),
    );
    expect(isSessionKey(key)).toBe(false);
  });

  test("what was formatted is parsed again", () => {
    expect(formatSessionKey("main", "cli", "direct", "me")).toBe("agent:main:cli:direct:me");
    expect(() => formatSessionKey("main", "..")).toThrow(expect.objectContaining({ code: "bad_key" }));
    expect(() => formatSessionKey("main", "")).toThrow(expect.objectContaining({ code: "bad_key" }));
  });
});

describe("ids", () => {
  test("an id that passes is a plain file name", () => {
    fc.assert(
      fc.property(fc.string(), (id) => !isSessionId(id) || /^[A-Za-z0-9_-]{1,128}$/.test(id)),
      { numRuns: 1000, seed: 4 },
    );
    expect(isSessionId("0197-ab_C")).toBe(true);
  });
  test.each(["", "-a", "_a", "..", "../x", "a/b", "a.b", "a\n", "é", "x".repeat(129), null, 7])(
    "%j is refused",
    (id) => {
      expect(isSessionId(id)).toBe(false);
      expect(() => checkSessionId(id)).toThrow(expect.objectContaining({ code: "bad_session_id" }));
    },
  );
  test("a good one passes", () => expect(() => checkSessionId("a")).not.toThrow());
});
