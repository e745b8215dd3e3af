/** Three different steps, whatever the to-do, in the language of whoever asks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { splitTodo } from "../../../src/model/rehearsal/split.ts";

test.each([
  ["Send the budget draft to Mei by Friday", "Send it, and note who has it"],
  ["Book a room for the launch review", "Book the better one, and tell everyone concerned"],
  ["Jonas: review the contract (urgent)", "List the points to look at"],
  ["Fix the login page.", "Change one thing that mends it"],
  ["Think about lunch", "Do the first half hour of it"],
  ["预订发布评审的会议室", "Ask for two offers and compare them"],
])("%s: %s", (item, step) => {
  expect(splitTodo(item, "en")).toContain(step);
});

test.each([
  ["周五前把预算草案发给小美", "发出去，并记下谁已收到"],
  ["预订发布评审的会议室", "写下日期、时间和人数"],
  ["老张：联系供应商", "联系对方，约好答复的日期"],
  ["想想午饭", "先做半小时"],
  ["Book the sound system and try it once in the hall", "写下日期、时间和人数"],
])("%s: %s", (item, step) => {
  expect(splitTodo(item, "zh")).toContain(step);
});

test("always three different steps in one language, and none repeats the to-do", () => {
  const items = fc.oneof(fc.string({ minLength: 8 }), fc.constantFrom("Send a letter to Ada", "写一份发布说明"));
  fc.assert(
    fc.property(items, fc.constantFrom("en" as const, "zh" as const), (item, language) => {
      const steps = splitTodo(item, language);
      expect(new Set(steps).size).toBe(3);
      expect(steps.some((step) => step.includes(item))).toBe(false);
      for (const step of steps) expect(/\p{Script=Han}/u.test(step)).toBe(language === "zh");
    }),
  );
});
