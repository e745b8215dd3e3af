/** Reading a request: which results belong to which calls, what is still to be reported, which language counts. */
import { expect, test } from "vitest";
import { readConversation } from "../../../src/model/rehearsal/conversation.ts";
import type { EntryMessage } from "@holdfast/sessions";
import { request, user } from "../../support/requests.ts";

const call = (id: string, path: string): EntryMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "read", arguments: { path } }],
});
const result = (toolCallId: string, text: string, verdict?: string): EntryMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  ...(verdict === undefined ? {} : { details: { holdfast: { verdict } } }),
});
const answer = (text: string, more: object = {}): EntryMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  ...more,
});
const read = (messages: readonly EntryMessage[]) => readConversation(request(messages));

test("ids that come again belong to the nearest earlier open call; results without a call are nobody's", () => {
  const { steps } = read([call("c", "a"), result("c", "A"), call("c", "b"), result("c", "B"), result("c", "C")]);
  expect(steps.map(({ args, text }) => [args.path, text])).toEqual([
    ["a", "A"],
    ["b", "B"],
  ]);
});

test("the note before a recovered text is left out, the verdict kept", () => {
  const { steps } = read([call("c", "a"), result("c", "[Recovered] It happened.\nA", "happened")]);
  expect(steps[0]).toMatchObject({ text: "A", verdict: "happened" });
  expect(read([call("c", "a"), result("c", "A", "invented")]).steps[0]?.verdict).toBeNull();
});

test("recovered steps are unreported until a final answer follows", () => {
  const settled = [user("x"), call("c", "a"), result("c", "A", "happened")];
  expect(read(settled).unreported).toHaveLength(1);
  expect(read([...settled, answer("half", { stopReason: "aborted" })]).unreported).toHaveLength(1);
  expect(read([...settled, answer("done")]).unreported).toEqual([]);
});

test("nothing said at all is a conversation too", () => {
  expect(read([])).toMatchObject({ said: "", saidAt: -1, language: "en", first: true, steps: [] });
});

test("messages of other roles and odd content do not disturb", () => {
  const odd: EntryMessage[] = [
    { role: "custom", content: 7 },
    { role: "toolResult" },
    { role: "assistant", content: "x" },
    user("你好"),
  ];
  expect(read(odd)).toMatchObject({ said: "你好", language: "zh", first: true });
});
