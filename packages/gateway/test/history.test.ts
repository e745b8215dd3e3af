/** History limits: which number counts for which conversation, and that the model gets no more. */
import { say, scriptedModel } from "@holdfast/agent";
import { expect, test } from "vitest";
import { historyLimits } from "../src/history.ts";
import { configOf, startGateway } from "./support/gateway.ts";

const of = (sessions: object, key: string, channel = "telegram") =>
  historyLimits(key, channel, configOf(JSON.stringify({ sessions })).sessions);
const MAIN = "agent:main:main";
const DM = "agent:main:telegram:direct:7";
const GROUP = "agent:main:telegram:group:-100";
const THREAD = "agent:main:discord:channel:5:thread:9";

test.each([
  ["nothing is set", {}, GROUP, {}],
  ["numbers for all", { maxHistoryMessages: 9, maxHistoryTokens: 700 }, GROUP, { maxMessages: 9, maxTokens: 700 }],
  ["the small preset, between two", { preset: "small" }, DM, { maxMessages: 100, maxTokens: 16_000 }],
  ["the small preset, the main conversation", { preset: "small" }, MAIN, { maxMessages: 100, maxTokens: 16_000 }],
  ["the small preset, in a group", { preset: "small" }, GROUP, { maxMessages: 20, maxTokens: 4_000 }],
  ["the small preset, scheduled", { preset: "small" }, "agent:main:cron:daily", { maxMessages: 50, maxTokens: 8_000 }],
  ["a number before the preset", { preset: "small", maxHistoryMessages: 7 }, DM, { maxMessages: 7, maxTokens: 16_000 }],
  [
    "the chat type before all",
    { maxHistoryMessages: 9, channelOverrides: { group: { maxHistoryMessages: 3 } } },
    GROUP,
    { maxMessages: 3 },
  ],
  [
    "not the other type's",
    { maxHistoryMessages: 9, channelOverrides: { dm: { maxHistoryMessages: 3 } } },
    GROUP,
    { maxMessages: 9 },
  ],
  [
    "a thread falls back to its place",
    { channelOverrides: { group: { maxHistoryMessages: 3 } } },
    THREAD,
    { maxMessages: 3 },
  ],
  [
    "a thread's own first",
    { channelOverrides: { group: { maxHistoryMessages: 3 }, thread: { maxHistoryTokens: 50 } } },
    THREAD,
    { maxMessages: 3, maxTokens: 50 },
  ],
  [
    "the channel before the chat type",
    { channelOverrides: { dm: { maxHistoryMessages: 3 }, byChannel: { telegram: { maxHistoryMessages: 2 } } } },
    DM,
    { maxMessages: 2 },
  ],
] as const)("%s", (_name, sessions, key, limits) => {
  expect(of(sessions, key)).toEqual(limits);
});

test("the model sees no more than that, and always what it is asked", async () => {
  const model = scriptedModel(() => say("yes"));
  const config = JSON.stringify({ sessions: { channelOverrides: { dm: { maxHistoryMessages: 3 } } } });
  const { gateway } = await startGateway({ model, config });
  for (const text of ["one", "two", "three", "four"]) await gateway.send(MAIN, text);
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 3, 3]);
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain("four");
});
