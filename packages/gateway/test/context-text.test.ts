/** `/context` in a chat, in both languages; nothing else that begins so is an order, and it is the owner's alone. */
import { act, say, scriptedModel } from "@holdfast/agent";
import { expect, test } from "vitest";
import { agoText } from "../src/language.ts";
import { plan, type QueueSettings } from "../src/queue/plan.ts";
import { contextOrderIn } from "../src/queue/words.ts";
import { startGateway } from "./support/gateway.ts";

const KEY = "agent:main:main";
const answerOf = async (sent: Promise<unknown>) => ((await sent) as { answer: { answer: string } }).answer.answer;

test("what was sent is told in a few lines, in the language of the conversation, and no model is asked", async () => {
  const model = scriptedModel([act("read", { path: "AGENTS.md" }), say("done"), say("好的")]);
  const { gateway } = await startGateway({ model });
  expect(await answerOf(gateway.send(KEY, "/context"))).toMatch(/^Nothing is kept .*: no model has been asked yet\.$/);
  expect(await answerOf(gateway.send(KEY, "/上下文"))).toMatch(/^这次对话还没有保存任何请求/);
  await gateway.send(KEY, "read your notes");
  const english = await answerOf(gateway.send(KEY, " /context "));
  expect(english.split("\n")).toEqual([
    expect.stringMatching(/^Request 2, (?:just now|\d+ s ago), to scripted\/script$/),
    expect.stringMatching(
      /^[\d,]+ tokens \(estimated\): system [\d,]+ · tools [\d,]+ · history [\d,]+ in 2 messages · newest message [\d,]+$/,
    ),
    expect.stringMatching(/^Files: .*AGENTS\.md/),
    expect.stringMatching(/^Begins like the request before: \d\d%$/),
    "In detail: holdfast session context agent:main:main --request 2",
  ]);
  await gateway.send(KEY, "刚才第二项待办，能不能再拆细一点？");
  const chinese = await answerOf(gateway.send(KEY, "/context"));
  expect(chinese).toMatch(/^第 3 次请求，.*，发给 scripted\/script\n[\d,]+ tokens（估算）：系统提示 /);
  expect(chinese).toContain("与上一次请求开头相同：");
  expect(model.requests).toHaveLength(3);
});

test("/compact: a summary takes the place of what was before, and the next question is asked with it", async () => {
  const summary = say("## Goals\nThe person reads notes.");
  const model = scriptedModel([say("eins"), say("zwei"), say("drei"), summary, say("yes")]);
  const { gateway } = await startGateway({ model });
  expect(await answerOf(gateway.send(KEY, "/compact"))).toMatch(/^There is nothing to compact/);
  for (const n of [1, 2, 3]) await gateway.send(KEY, `question ${n} ${"and more ".repeat(150)}`);
  expect(await answerOf(gateway.send(KEY, "/compact the numbers"))).toMatch(
    /^Compacted: 6 messages \(about [\d,]+ tokens\) became \d messages \(about \d+ tokens\): a summary, and the newest part as it was\. The original stays in the log\.$/,
  );
  expect(JSON.stringify(model.requests[3]?.messages)).toContain("Above all keep what concerns: the numbers");
  await gateway.send(KEY, "and now?");
  const sent = JSON.stringify(model.requests[4]?.messages);
  expect(sent).toContain("The person reads notes.");
  expect(sent).not.toContain("question 1 ");
  expect(await answerOf(gateway.send(KEY, "/context"))).toContain("What was before: in a summary");
});

test("/compact that fails leaves everything as it was, and says so in the language of the conversation", async () => {
  const answers = [say("好"), say("好"), say("   "), say("还在")];
  const model = scriptedModel(answers);
  const { gateway } = await startGateway({ model });
  for (const n of [1, 2]) await gateway.send(KEY, `第 ${n} 项待办 ${"说明".repeat(400)}`);
  expect(await answerOf(gateway.send(KEY, "/压缩 编号"))).toMatch(/^没有压缩：.*一切保持原样。$/);
  await gateway.send(KEY, "还在吗？");
  expect(JSON.stringify(model.requests[3]?.messages)).toContain("第 1 项待办");
});

test.each([
  ["/compact", null],
  ["/compact keep the ids", "keep the ids"],
  ["／压缩：编号", "编号"],
  ["/Compact:\nall of it", "all of it"],
])("%s asks for it with the focus %s", (text, focus) => {
  expect(contextOrderIn(text)).toEqual({ kind: "compact", focus });
});

test.each([
  ["/context", true],
  ["／Context", true],
  ["/上下文", true],
  ["/context of this song", false],
  ["context", false],
  ["/compaction", false],
  ["please /compact", false],
  ["what is /context", false],
])("%s: an order %s", (text, isOrder) => {
  expect(contextOrderIn(text) !== null).toBe(isOrder);
});

test("only the owner is told, and only where it is not meant literally", () => {
  const settings: QueueSettings = { mode: "followup", debounceMs: 0, cap: 3, drop: "old" };
  const by = (id: string) => ({ message: { text: "/context", from: { id, name: null, owner: id === "owner" } } });
  const present = { waiting: [], running: [], nowMs: 0 };
  expect(plan(by("owner"), present, settings)).toEqual({ kind: "order", order: { kind: "context" } });
  expect(plan(by("eve"), present, settings).kind).toBe("queue");
  expect(plan({ ...by("owner"), literal: true }, present, settings).kind).toBe("queue");
});

test("how long ago it was", () => {
  const at = (passedMs: number) => [agoText(0, passedMs, false), agoText(0, passedMs, true)];
  expect(at(-5)).toEqual(["just now", "刚才"]);
  expect(at(59_999)).toEqual(["59 s ago", "59 秒前"]);
  expect(at(7_200_000)).toEqual(["2 h ago", "2 小时前"]);
  expect(at(3 * 86_400_000)).toEqual(["3 d ago", "3 天前"]);
});
