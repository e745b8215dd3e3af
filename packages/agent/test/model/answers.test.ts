/** Names, failures and cut answers that all models share. */
import { expect, test } from "vitest";
import {
  abortedAnswer,
  argumentsErrorOf,
  failedAnswer,
  modelFailure,
  splitName,
  streamBlocks,
} from "../../src/model/answers.ts";

const by = { provider: "p", model: "m", api: "test" };
const call = { type: "toolCall", id: "c1", name: "write", arguments: {} } as const;

test.each([
  ["openai/gpt-5.2", "openai", "gpt-5.2"],
  ["router/meta/llama:free", "router", "meta/llama:free"],
  ["alone", "alone", ""],
])("%s is provider %s and model %s", (name, provider, model) => {
  expect(splitName(name)).toEqual({ provider, model });
});

test("another attempt helps where the fault may pass, not where the request is wrong", () => {
  const codes = ["rate_limited", "overloaded", "timeout", "connection", "bad_answer"] as const;
  for (const code of codes) expect(modelFailure(code, "x").retryable, code).toBe(true);
  const final = [
    "auth",
    "billing",
    "bad_request",
    "context_overflow",
    "content_filter",
    "not_set_up",
    "unknown",
  ] as const;
  for (const code of final) expect(modelFailure(code, "x").retryable, code).toBe(false);
});

test("no call survives in an answer that was cut or failed", () => {
  const blocks = [{ type: "text", text: "Writing." }, call] as const;
  expect(abortedAnswer(by, blocks).content).toEqual([blocks[0]]);
  expect(failedAnswer(by, modelFailure("connection", "cut"), blocks).content).toEqual([blocks[0]]);
});

test("a signal that aborts on the last delta takes the call away", async () => {
  const stop = new AbortController();
  const options = { signal: stop.signal, onDelta: () => stop.abort() };
  const streamed = await streamBlocks([{ type: "text", text: "Writing." }, call], {}, options);
  expect(streamed).toEqual({ shown: [{ type: "text", text: "Writing." }], aborted: true });
});

test("invalid arguments are recognised by their field, not by being empty", () => {
  expect(argumentsErrorOf(call)).toBeNull();
  const invalid = { ...call, argumentsError: "Unexpected end of JSON input" };
  expect(argumentsErrorOf(invalid)).toBe("Unexpected end of JSON input");
});
