/** Calls, results and histories that providers refused elsewhere; ids as in the collection of cases. */
import type { EntryMessage } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { hygienic } from "../../src/context/hygiene/hygiene.ts";
import { act, say, scriptedModel } from "../../src/model/scripted.ts";
import type { Tool } from "../../src/types.ts";
import { entriesOf, KEY, laneOf, resultsOf } from "../support/agent.ts";
import { stage } from "../support/stage.ts";

type Fields = Readonly<Record<string, unknown>>;
const user = (text: string): EntryMessage => ({ role: "user", content: [{ type: "text", text }] });
const answer = (content: readonly Fields[], more: Fields = {}) =>
  ({ role: "assistant", content, ...more }) as unknown as EntryMessage;
const text = (said: string) => ({ type: "text", text: said });
const call = (id: string, name = "exec", args: Fields = {}) => ({ type: "toolCall", id, name, arguments: args });
const result = (id: string, said = "ok", more: Fields = {}) =>
  ({
    role: "toolResult",
    toolCallId: id,
    toolName: "exec",
    content: [text(said)],
    isError: false,
    ...more,
  }) as unknown as EntryMessage;

/** What every strict provider insists on: each call has one result right after its answer, nothing else has one, nothing is empty. */
function expectSendable(messages: readonly EntryMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const content = message.content as readonly { type: string; id?: string; text?: string }[];
    expect(content.length, `message ${index} is empty`).toBeGreaterThan(0);
    if (message.role !== "assistant") continue;
    const ids = content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const after = messages.slice(index + 1, index + 1 + ids.length);
    expect(after.map((next) => ("toolCallId" in next ? next.toolCallId : next.role))).toEqual(ids);
    expect("toolCallId" in (messages[index + 1 + ids.length] ?? {})).toBe(false);
  }
}

test("B034 an aborted call goes with its made-up result: neither half is sent", () => {
  const sent = hygienic([
    user("m1"),
    answer([call("t1")], { stopReason: "aborted" }),
    result("t1", "synthetic", { isError: true }),
    user("go on"),
  ]);
  expectSendable(sent);
  expect(JSON.stringify(sent)).not.toContain("t1");
});

test("B036 a call without a result is answered as unknown in the request, not run again, and the turn goes on", async () => {
  await using on = await stage();
  {
    await using session = await on.sessions.open(KEY);
    await session.append([
      { type: "message", message: { role: "user", content: "sleep", timestamp: 1 } },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [call("t1", "exec", { command: "sleep 60" })],
          stopReason: "toolUse",
          timestamp: 2,
        },
      },
    ] as never);
  }
  let ran = 0;
  const exec: Tool = {
    spec: { name: "exec", description: "x", parameters: { type: "object" } },
    effect: "opaque",
    check: () => null,
    run: async () => ({ ok: true, text: `${++ran}` }),
  };
  const model = scriptedModel([say("It was interrupted.")]);
  expect(await on.run(laneOf("status?"), [], { model, tools: new Map([["exec", exec]]) })).toMatchObject({
    kind: "replied",
  });
  expect(ran).toBe(0);
  expectSendable(model.requests[0]?.messages ?? []);
  expect(JSON.stringify(model.requests[0]?.messages)).toMatch(/No result of this call is on record|does not say that/u);
});

test("B039 a failed answer and its repetition with the same call ids: only the second is sent", () => {
  const sent = hygienic([
    user("m1"),
    answer([call("f:1"), call("f:2")], { stopReason: "error", errorMessage: "overloaded" }),
    answer([call("f:1"), call("f:2")], { stopReason: "toolUse" }),
    result("f:1"),
    result("f:2"),
  ]);
  expectSendable(sent);
  expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "toolResult"]);
});

test("B041 answers without a text leave no empty block behind", () => {
  const empty = [answer([]), answer([text("")]), answer([text("  \n")]), answer([{ type: "thinking", thinking: "" }])];
  const sent = hygienic([user("m1"), ...empty, user("m6")]);
  expectSendable(sent);
  expect(sent.map(({ role }) => role)).toEqual(["user", "user"]);
});

describe("B043 what came between a call and its result is sent behind it; nothing stored is moved", () => {
  test.each([
    ["one", [answer([call("t1")]), user("still there?"), result("t1")], ["assistant", "toolResult", "user"]],
    [
      "two messages, two calls",
      [answer([call("t1"), call("t2")]), user("a"), result("t2"), user("b"), result("t1")],
      ["assistant", "toolResult", "toolResult", "user", "user"],
    ],
  ])("%s", (_name, stored, roles) => {
    const before = structuredClone(stored);
    const sent = hygienic(stored);
    expectSendable(sent);
    expect(sent.map(({ role }) => role)).toEqual(roles);
    expect(stored).toEqual(before);
  });
});

test("B047 an empty thought without a signature goes wherever it is; the rest of the answer stays as it was", () => {
  const kept = [text("x"), call("t1")];
  const sent = hygienic([user("m1"), answer([{ type: "thinking", thinking: "" }, ...kept]), result("t1")]);
  expect(sent[1]?.content).toEqual(kept);
});

test("B049 a history that was cut in the middle has as many results as calls, and none without its call", () => {
  const cut = [result("t0"), answer([call("t1"), call("t2")]), result("t1"), result("t2"), user("on")];
  expectSendable(hygienic(cut));
  expectSendable(hygienic(cut.slice(2)));
});

test("the same call id in two turns and twice in one answer: every call gets its own result", async () => {
  await using on = await stage();
  const tool: Tool = {
    spec: { name: "exec", description: "x", parameters: { type: "object" } },
    effect: "none",
    check: () => null,
    run: async (args) => ({ ok: true, text: `did ${args.n}` }),
  };
  const same = (n: number) => ({ ...act("exec", { n }, { tool: "exec", args: { n: n + 1 } }) });
  const model = scriptedModel([same(1), same(3), say("Four.")]);
  const ask = model.ask.bind(model);
  const twins = {
    ...model,
    ask: async (...args: Parameters<typeof ask>) => {
      const made = await ask(...args);
      return {
        ...made,
        content: made.content.map((block) => (block.type === "toolCall" ? { ...block, id: "same" } : block)),
      };
    },
  };
  expect(await on.run(laneOf("go"), [], { model: twins, tools: new Map([["exec", tool]]) })).toMatchObject({
    text: "Four.",
  });
  expect(
    resultsOf(await entriesOf(on.sessions))
      .map((one) => JSON.stringify(one.content))
      .map((said) => /did \d/.exec(said)?.[0]),
  ).toEqual(["did 1", "did 2", "did 3", "did 4"]);
  const last = model.requests.at(-1)?.messages ?? [];
  const shown = last
    .filter((message) => message.role === "toolResult")
    .map((message) => /did \d/.exec(JSON.stringify(message.content))?.[0]);
  expect(shown).toEqual(["did 1", "did 2", "did 3", "did 4"]);
  const ids = last.flatMap((message) =>
    message.role === "assistant" && Array.isArray(message.content)
      ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  expect(new Set(ids).size).toBe(ids.length);
});
