/** To-dos found in notes of many styles, and read back from the check list that is written. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkList, findTodos } from "../../../src/model/rehearsal/todos.ts";

test.each<[string, string, readonly string[]]>([
  [
    "labels",
    "TODO: one\n- TODO: two\nTo-do: three\n**Action:** four\nAction item: five",
    ["one", "two", "three", "four", "five"],
  ],
  ["an owner in brackets", "TODO(mei): send the draft", ["send the draft (mei)"]],
  ["Chinese labels", "待办：发预算\n- 待办: 订会议室\n行动项：联系供应商", ["发预算", "订会议室", "联系供应商"]],
  ["open boxes, not ticked ones", "- [ ] one\n* [x] done\n1. [ ] two\n- [] three", ["one", "two", "three"]],
  ["a list under a heading", "## Action items\n\n- one\n- two\n\n## Notes\n- not this", ["one", "two"]],
  ["a list under a label", "待办：\n1. 发预算\n2. 订会议室\n其他事情\n- 不是", ["发预算", "订会议室"]],
  ["each once", "TODO: one\n- [ ] one", ["one"]],
  ["Windows line ends", "TODO: one\r\nTODO: two\r\n", ["one", "two"]],
  ["nothing", "We talked.\n- a remark\nThe todo was mentioned.", []],
  ["empty", "", []],
])("%s", (_name, text, items) => {
  expect(findTodos(text)).toEqual(items);
});

test("what was written is read back", () => {
  const item = fc.stringMatching(/^[a-zA-Z\u4e00-\u9fff][a-zA-Z0-9 ,.\u4e00-\u9fff]{0,40}$/).map((text) => text.trim());
  fc.assert(
    fc.property(
      fc.uniqueArray(item, { minLength: 1, maxLength: 9 }),
      fc.constantFrom("To-do", "待办"),
      (items, heading) => {
        expect(findTodos(checkList(heading, items))).toEqual(items);
      },
    ),
  );
});

test("the check list is numbered Markdown", () => {
  expect(checkList("To-do", ["one", "two"])).toBe("# To-do\n\n1. [ ] one\n2. [ ] two\n");
});
