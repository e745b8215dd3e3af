/** The scripted model: what each step does, seen through the contract only. */
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { act, failed, say, sayAndAct, scriptedModel, stalled } from "../../src/model/scripted.ts";
import { collect, request, user } from "../support/requests.ts";

const hello = request([user("hello")]);

test("steps are answered in order, then the script says that it is used up", async () => {
  const model = scriptedModel([say("one"), act("read", { path: "a" })]);
  expect(model.remaining()).toBe(2);
  expect(await collect(model, hello)).toMatchObject({ text: "one", answer: { stop: "stop", failure: null } });
  expect((await collect(model, hello)).answer).toMatchObject({
    stop: "toolUse",
    content: [{ type: "toolCall", id: "call_1", name: "read", arguments: { path: "a" } }],
  });
  const { answer } = await collect(model, hello);
  expect(answer).toMatchObject({ stop: "failed", failure: { code: "bad_request", retryable: false } });
  expect(answer.failure?.message).toContain("2 steps");
  expect(model.remaining()).toBe(0);
});

test("several calls get ids that go on from the calls in the request", async () => {
  const step = sayAndAct("Both.", { tool: "read", args: { path: "a" } }, { tool: "read", args: { path: "b" } });
  const before = scriptedModel([act("read", { path: "0" })]);
  const first = (await collect(before, hello)).answer;
  const asked = request([user("hello"), { role: "assistant", content: first.content }]);
  const { calls, text } = await collect(scriptedModel([step]), asked);
  expect(text).toBe("Both.");
  expect(calls.map((call) => call.id)).toEqual(["call_2", "call_3"]);
});

test("a function sees the request and can answer every question", async () => {
  const model = scriptedModel((asked) => say(`${asked.messages.length} messages`));
  expect((await collect(model, hello)).text).toBe("1 messages");
  expect((await collect(model, request([user("a"), user("b")]))).text).toBe("2 messages");
  expect(model.remaining()).toBeNull();
  expect(model.requests).toHaveLength(2);
});

test("remembered requests are copies", async () => {
  const model = scriptedModel([say("one")]);
  const messages = [user("hello")];
  await collect(model, request(messages));
  messages.push(user("later"));
  expect(model.requests[0]?.messages).toHaveLength(1);
});

test("a failure carries its code, status, delay and the text before it", async () => {
  const model = scriptedModel([failed("rate_limited", { status: 429, retryAfterMs: 2000, after: "I was" })]);
  expect((await collect(model, hello)).answer).toMatchObject({
    stop: "failed",
    content: [{ type: "text", text: "I was" }],
    failure: { code: "rate_limited", status: 429, retryAfterMs: 2000, retryable: true },
  });
});

test("text is streamed in pieces of whole characters, with pauses", async () => {
  const sleeps: number[] = [];
  const world = { ...realWorld(() => {}), sleep: async (ms: number) => void sleeps.push(ms) };
  const model = scriptedModel([say("你好👍ab")], { pieceChars: 2, pauseMs: 40, world });
  const { deltas, text } = await collect(model, hello);
  expect(deltas.map((delta) => (delta.kind === "text" ? delta.text : ""))).toEqual(["你好", "👍a", "b"]);
  expect(text).toBe("你好👍ab");
  expect(sleeps).toEqual([40, 40]);
});

test("pauses without a world are refused at once", () => {
  expect(() => scriptedModel([say("x")], { pauseMs: 1 })).toThrow(TypeError);
});

test("an abort in the middle of the text keeps what was shown", async () => {
  const stop = new AbortController();
  const model = scriptedModel([sayAndAct("abcdef", { tool: "read", args: {} })], { pieceChars: 2 });
  const answer = await model.ask(hello, { signal: stop.signal, onDelta: () => stop.abort() });
  expect(answer).toMatchObject({ stop: "aborted", failure: null, content: [{ type: "text", text: "ab" }] });
  expect(answer.content).toHaveLength(1);
});

test("an abort while it pauses ends the pause", async () => {
  const stop = new AbortController();
  const model = scriptedModel([say("abcd")], { pieceChars: 2, pauseMs: 3_600_000, world: realWorld(() => {}) });
  const asked = model.ask(hello, { signal: stop.signal, onDelta: () => queueMicrotask(() => stop.abort()) });
  expect(await asked).toMatchObject({ stop: "aborted", content: [{ text: "ab" }] });
});

test("a stalled step hangs until it is aborted", async () => {
  const stop = new AbortController();
  const states: string[] = [];
  const asked = scriptedModel([stalled("thinking")])
    .ask(hello, { signal: stop.signal, onDelta: () => states.push("shown") })
    .finally(() => states.push("ended"));
  await new Promise(setImmediate);
  expect(states).toEqual(["shown"]);
  stop.abort();
  expect(await asked).toMatchObject({ stop: "aborted", content: [{ text: "thinking" }] });
});

test("asked with an aborted signal it shows nothing, and the step is used up", async () => {
  const model = scriptedModel([say("one"), say("two")]);
  const first = await collect(model, hello, AbortSignal.abort());
  expect(first.answer).toMatchObject({ stop: "aborted", content: [] });
  expect(first.deltas).toEqual([]);
  expect((await collect(model, hello)).text).toBe("two");
});
