/** Old results of tools in a request: when they are cut, which, and what stays; over made and over random conversations. */
import type { EntryMessage } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OLD_PICTURE, type PruningSettings, prune } from "../../../src/context/pruning/prune.ts";

const NOW = Date.UTC(2026, 11, 1);
const SETTINGS: PruningSettings = {
  mode: "always",
  ttlMs: 300_000,
  keepLastAssistants: 3,
  minPrunableToolChars: 50_000,
  softTrimRatio: 0.3,
  hardClearRatio: 0.5,
  softTrim: { maxChars: 4_000, headChars: 1_500, tailChars: 1_500 },
  hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" },
  tools: { allow: [], deny: [] },
};

const user = (text: string): EntryMessage => ({ role: "user", content: [{ type: "text", text }] });
const asked = (id: string, timestamp = NOW - 3_600_000): EntryMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "read", arguments: {} }],
  timestamp,
});
const result = (id: string, text: string, toolName = "read"): EntryMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName,
  content: [{ type: "text", text }],
  isError: false,
});
const textIn = (message: EntryMessage | undefined): string => JSON.stringify(message?.content);

/** `count` exchanges with results of `length` characters, then a question. */
function conversation(count: number, length: number, toolName = "read"): readonly EntryMessage[] {
  const exchanges = Array.from({ length: count }, (_, at) => [
    asked(`c${at}`),
    result(`c${at}`, `begin${at} ${"字".repeat(length)} end${at}`, toolName),
  ]);
  return [user("go"), ...exchanges.flat(), user("and now?")];
}

const pruned = (
  messages: readonly EntryMessage[],
  settings: Partial<PruningSettings> = {},
  window: number | null = 10_000,
) => prune(messages, { settings: { ...SETTINGS, ...settings }, window, nowMs: NOW });

describe("when", () => {
  test.each([
    ["it is off", { mode: "off" }, 10_000],
    ["nobody knows the window", {}, null],
    ["the window is large", {}, 1_000_000],
    ["the provider still has the prompt", { mode: "cache-ttl", ttlMs: 7_200_000 }, 10_000],
    ["there are no old answers", { keepLastAssistants: 99 }, 10_000],
  ] as const)("not while %s", (_why, settings, window) => {
    const messages = conversation(8, 6_000);
    expect(pruned(messages, settings, window)).toEqual({ messages, cut: [] });
  });

  test("once the cache has run out, or after a clock that was set back", () => {
    expect(pruned(conversation(8, 6_000), { mode: "auto" }).cut).not.toEqual([]);
    const later = conversation(8, 6_000).map((one) => ({ ...one, timestamp: NOW + 60_000 }));
    expect(pruned(later, { mode: "auto" }).cut).not.toEqual([]);
  });
});

test("old results keep head and tail and say what is missing; the newest three answers' results stay whole", () => {
  const messages = conversation(6, 5_000);
  const { messages: made, cut } = pruned(messages, { hardClear: { enabled: false, placeholder: "" } });
  expect(cut).toEqual([2, 4, 6].map((at) => ({ at, how: "trimmed" })));
  expect(textIn(made[2])).toMatch(
    /begin0 字+\\n\[\d+ of 5012 characters of this old result are left out here\]\\n字+ end0/u,
  );
  expect(made.slice(7)).toEqual(messages.slice(7));
});

test("still too much: the oldest are cleared, as many as are needed", () => {
  const { messages: made, cut } = pruned(conversation(40, 3_000));
  const cleared = cut.filter(({ how }) => how === "cleared").map(({ at }) => at);
  expect(cleared[0]).toBe(2);
  expect(cleared).toEqual(cleared.toSorted((a, b) => a - b));
  expect(textIn(made[2])).toBe('[{"type":"text","text":"[Old tool result content cleared]"}]');
  expect(cut.length).toBeLessThan(38);
  const few = pruned(conversation(12, 3_000), { minPrunableToolChars: 1_000_000 });
  expect(few.cut.filter(({ how }) => how === "cleared")).toEqual([]);
});

test("tools can be named, and left out by name", () => {
  expect(pruned(conversation(6, 5_000), { tools: { allow: ["exec"], deny: [] } }).cut).toEqual([]);
  expect(pruned(conversation(6, 5_000), { tools: { allow: [], deny: ["read"] } }).cut).toEqual([]);
  expect(pruned(conversation(6, 5_000, "exec"), { tools: { allow: ["exec"], deny: [] } }).cut).toHaveLength(3);
});

test("old pictures become a note, new ones stay", () => {
  const picture: EntryMessage = { role: "user", content: [{ type: "image", data: "x", mimeType: "image/png" }] };
  const messages = [picture, ...conversation(6, 5_000), picture];
  const { messages: made } = pruned(messages);
  expect(textIn(made[0])).toContain(OLD_PICTURE);
  expect(made.at(-1)).toBe(picture);
});

test("the exchange in progress is whole, whatever it holds", () => {
  const messages = [
    user("go"),
    ...Array.from({ length: 9 }, (_, at) => [asked(`c${at}`), result(`c${at}`, "x".repeat(9_000))]).flat(),
  ];
  expect(pruned(messages, { keepLastAssistants: 0 })).toEqual({ messages, cut: [] });
});

test("whatever the conversation: every message in its place, never more than before, and the same again", () => {
  const one = fc.oneof(
    fc.string({ maxLength: 40, unit: "grapheme" }).map(user),
    fc.tuple(fc.nat(9), fc.nat(9_000)).map(([id, length]) => result(`c${id}`, "😀".repeat(length))),
    fc.nat(9).map((id) => asked(`c${id}`)),
  );
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 30 }),
      fc.nat(4),
      fc.integer({ min: 1, max: 20_000 }),
      (messages, keep, window) => {
        const settings = { keepLastAssistants: keep, minPrunableToolChars: 0 };
        const once = pruned(messages, settings, window);
        expect(once.messages.map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
        expect(JSON.stringify(once.messages).length).toBeLessThanOrEqual(
          JSON.stringify(messages).length + 200 * once.cut.length,
        );
        expect(JSON.stringify(once.messages).isWellFormed()).toBe(true);
        expect(pruned(messages, settings, window)).toEqual(once);
        const newest = messages.findLastIndex(({ role }) => role === "user");
        expect(once.messages.slice(newest)).toEqual(messages.slice(newest));
      },
    ),
    { numRuns: 200 },
  );
});
