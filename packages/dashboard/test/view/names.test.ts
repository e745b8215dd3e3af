import { expect, test } from "vitest";
import type { LiveState } from "../../src/live/state.ts";
import { emptyState } from "../../src/live/state.ts";
import { en } from "../../src/text/en.ts";
import { zh } from "../../src/text/zh.ts";
import { rowsOf } from "../../src/view/rows.ts";
import { sessionTitle } from "../../src/view/session-title.ts";
import { nextStep } from "../../src/view/story.ts";
import { Chain } from "../support/entries.ts";

test.each([
  [{ key: "agent:main:main", title: null }, "Main conversation"],
  [{ key: "agent:main:main", title: "Kitchen" }, "Kitchen"],
  [{ key: "agent:main:main", title: "  " }, "Main conversation"],
  [{ key: "agent:main:telegram:group:12345", title: null }, "telegram · 12345"],
  [{ key: "agent:main:feishu:direct:ou:9", title: null }, "feishu · ou:9"],
  [{ key: "agent:main:cron:morning", title: null }, "cron · morning"],
  [{ key: "agent:main:work", title: null }, "work"],
  [{ key: "anything", title: null }, "anything"],
])("%j is called %s", (session, title) => {
  expect(sessionTitle(session, en)).toBe(title);
});

test("the story's second step is offered after its first was answered, and only then", () => {
  const chain = new Chain();
  const asked = chain.user(zh.empty.first);
  const answered = chain.answer("done");
  const state = (part: Partial<LiveState>): LiveState => ({ ...emptyState, ...part });
  expect(nextStep(rowsOf(state({ entries: [asked] })), en)).toBeNull();
  expect(nextStep(rowsOf(state({ entries: [asked, answered] })), en)).toBe("the second one, split it finer");
  expect(nextStep(rowsOf(state({ entries: [asked, answered], running: true })), en)).toBeNull();
  const more = [asked, answered, chain.user("thanks"), chain.answer("welcome")];
  expect(nextStep(rowsOf(state({ entries: more })), en)).toBeNull();
  expect(nextStep(rowsOf(state({ entries: [new Chain().user("hi"), answered] })), en)).toBeNull();
});
