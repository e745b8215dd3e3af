/** Three different steps from a to-do's own words, whatever the to-do. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { splitTodo } from "../../../src/model/rehearsal/split.ts";

test.each([
  ["Send the budget draft to Mei by Friday", "the budget draft to Mei"],
  ["Book a room for the launch review", "a room for the launch review"],
  ["Jonas: review the contract (urgent)", "the contract"],
  ["Fix the login page.", "the login page"],
  ["Think about lunch", "Think about lunch"],
])("%s: every step but at most one names %s", (item, object) => {
  const steps = splitTodo(item, "en");
  expect(steps.filter((step) => step.includes(object)).length).toBeGreaterThanOrEqual(2);
  expect(steps.join()).not.toMatch(/Friday|urgent|Jonas/);
});

test.each(["周五前把预算草案发给小美", "预订发布评审的会议室", "老张：联系供应商", "想想午饭"])("%s", (item) => {
  const steps = splitTodo(item, "zh");
  expect(steps[0]).toContain(item.split("：").at(-1));
  for (const step of steps) expect(step).toMatch(/\p{Script=Han}/u);
});

test("the verb that comes first decides, not one inside another word", () => {
  expect(splitTodo("预订发布评审的会议室", "zh")[0]).toContain("时间、地点");
  expect(splitTodo("周五前把预算草案发给小美", "zh")[2]).toContain("谁已收到");
});

test("always three different steps", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.constantFrom("en" as const, "zh" as const), (item, language) => {
      expect(new Set(splitTodo(item, language)).size).toBe(3);
    }),
  );
});
