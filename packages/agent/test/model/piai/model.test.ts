/** pi-ai behind our contract, against a provider on loopback that misbehaves in every way we know of. */
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { realWorld } from "@holdfast/base";
import { afterEach, describe, expect, test } from "vitest";
import { argumentsErrorOf } from "../../../src/model/answers.ts";
import { PATIENCE, type PatienceLimits } from "../../../src/model/piai/limits.ts";
import { piaiModel } from "../../../src/model/piai/model.ts";
import type { Model, ModelFailure } from "../../../src/types.ts";
import {
  calls,
  chunk,
  event,
  type OpenAiServer,
  type Reply,
  refuses,
  startOpenAiServer,
  streams,
} from "../../support/openai-server.ts";
import { collect, request, user } from "../../support/requests.ts";

const KEY = "sk-very-secret-0123456789";
const world = realWorld(() => {});
const started: OpenAiServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

interface Setup {
  readonly server: OpenAiServer;
  readonly model: Model;
}
async function against(
  script: readonly Reply[],
  limits: Partial<PatienceLimits> = {},
  more: { readonly contextWindow?: number; readonly maxTokens?: number } = {},
): Promise<Setup> {
  const server = await startOpenAiServer(script);
  started.push(server);
  return { server, model: modelAt(server.url, limits, more) };
}
function modelAt(
  baseUrl: string,
  limits: Partial<PatienceLimits> = {},
  more: { readonly contextWindow?: number; readonly maxTokens?: number } = {},
): Model {
  const { contextWindow = 100_000, maxTokens = null } = more;
  const place = {
    provider: "local",
    model: "m",
    baseUrl,
    apiKey: KEY,
    api: "openai-completions",
    catalog: null,
  } as const;
  return piaiModel({ ...place, world, contextWindow, maxTokens, limits: { ...PATIENCE, ...limits } });
}
const hello = request([user("hello")]);

describe("answers", () => {
  test("text is streamed as it comes, with usage and who answered", async () => {
    const { model } = await against([streams(["Hel", "lo ", "你好"])]);
    const { answer, deltas } = await collect(model, hello);
    expect(deltas).toEqual(["Hel", "lo ", "你好"].map((text) => ({ kind: "text", text })));
    expect(answer).toMatchObject({
      content: [{ type: "text", text: "Hello 你好" }],
      stop: "stop",
      failure: null,
      usage: { input: 11, output: 7, totalTokens: 18 },
      by: { provider: "local", model: "m", api: "openai-completions" },
    });
  });

  test("a server that only speaks the protocol gets what every one understands", async () => {
    const { server, model } = await against([streams(["x"])], {}, { maxTokens: 77 });
    await collect(model, hello);
    const { body } = server.requests[0]!;
    expect(body).toMatchObject({ max_tokens: 77 });
    expect(Object.keys(body)).not.toContain("store");
    expect(Object.keys(body)).not.toContain("max_completion_tokens");
    expect(body.messages.at(-1)).toEqual({ role: "user", content: "hello" });
  });

  test("missing usage is null, not zero", async () => {
    const { model } = await against([streams(["x"], { end: { kind: "finish", reason: "stop", usage: false } })]);
    expect((await collect(model, hello)).answer.usage).toBeNull();
  });

  test("tool calls that come in pieces, two at once", async () => {
    const { model } = await against([
      calls(
        { id: "a", name: "read", pieces: ['{"pa', 'th":"n', 'otes.md"}'] },
        { id: "b", name: "write", pieces: ['{"path":"t.md","content":"你好"}'] },
      ),
    ]);
    const { answer, deltas } = await collect(model, hello);
    expect(answer.stop).toBe("toolUse");
    expect(answer.content).toEqual([
      { type: "toolCall", id: "a", name: "read", arguments: { path: "notes.md" } },
      { type: "toolCall", id: "b", name: "write", arguments: { path: "t.md", content: "你好" } },
    ]);
    expect(deltas).toEqual([
      { kind: "call", name: "read" },
      { kind: "call", name: "write" },
    ]);
  });

  test.each([['{"path": '], ["[1]"], ["not json"], ['"text"']])(
    "arguments %s are marked invalid, not guessed",
    async (bad) => {
      const { model } = await against([calls({ id: "a", name: "read", pieces: [bad] })]);
      const { answer, calls: made } = await collect(model, hello);
      expect(answer.stop).toBe("toolUse");
      expect(made[0]).toMatchObject({ id: "a", name: "read", arguments: {} });
      expect(argumentsErrorOf(made[0]!)).toContain(bad);
    },
  );

  test("calls without ids, or with the same one, get ids of their own", async () => {
    const { model } = await against([
      calls({ id: "x", name: "read", pieces: ["{}"] }, { id: "", name: "read", pieces: ["{}"] }),
    ]);
    const ids = (await collect(model, hello)).calls.map((call) => call.id);
    expect(ids[0]).toBe("x");
    expect(new Set(ids).size).toBe(2);
    expect(ids[1]).not.toBe("");
  });

  test("finish_reason length keeps the text and drops calls that may be halves", async () => {
    const { model } = await against([
      streams(["Writing"], {
        calls: [{ id: "a", name: "write", pieces: ['{"path":"a"}'] }],
        end: { kind: "finish", reason: "length", usage: true },
      }),
    ]);
    expect((await collect(model, hello)).answer).toMatchObject({
      stop: "length",
      content: [{ type: "text", text: "Writing" }],
    });
  });

  test("a character cut between two network packets arrives whole", async () => {
    const bytes = Buffer.from(event(chunk({ content: "好👍" })));
    const at = bytes.indexOf(Buffer.from("好")) + 1;
    const end = Buffer.from(`${event(chunk({}, "stop"))}data: [DONE]\n\n`);
    const pieces = [bytes.subarray(0, at), bytes.subarray(at, at + 4), bytes.subarray(at + 4), end];
    const { model } = await against([{ kind: "raw", pieces }]);
    expect((await collect(model, hello)).text).toBe("好👍");
  });

  test("invalid UTF-8 becomes a replacement character and nothing breaks", async () => {
    const [before, after] = event(chunk({ content: "a#b" })).split("#") as [string, string];
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]);
    const end = Buffer.from(`${event(chunk({}, "stop"))}data: [DONE]\n\n`);
    const { model } = await against([{ kind: "raw", pieces: [bytes, end] }]);
    expect((await collect(model, hello)).text).toBe("a\ufffdb");
  });
});

describe("what is sent", () => {
  test("system prompt, history, tools; our name and no other; no retries", async () => {
    const { server, model } = await against([streams(["ok"])], {}, { maxTokens: 500 });
    await collect(
      model,
      request([
        user("read it"),
        { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }] },
        {
          role: "toolResult",
          toolCallId: "c1",
          toolName: "read",
          content: [{ type: "text", text: "A" }],
          isError: false,
        },
        { role: "custom", customType: "note", content: "seen by the model", display: false },
        { role: "compactionSummary", summary: "earlier things", tokensBefore: 1 },
      ]),
    );
    const sent = server.requests[0]!;
    expect(sent.path).toBe("/v1/chat/completions");
    expect(sent.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(sent.headers["user-agent"]).toBe("holdfast");
    expect(JSON.stringify(sent.headers)).not.toMatch(/\bpi\b|referer/i);
    expect(sent.body).toMatchObject({ model: "m", stream: true, max_tokens: 500 });
    expect(sent.body.messages.map((message: { role: string }) => message.role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
      "user",
    ]);
    expect(sent.body.messages[0].content).toBe("You help.");
    expect(sent.body.messages[2].tool_calls[0]).toMatchObject({
      id: "c1",
      function: { name: "read", arguments: '{"path":"a"}' },
    });
    expect(JSON.stringify(sent.body.messages[4])).toContain("seen by the model");
    expect(JSON.stringify(sent.body.messages[5])).toContain("earlier things");
    expect(sent.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      "read",
      "write",
      "edit",
      "exec",
    ]);
  });

  test("the request is not changed", async () => {
    const { model } = await against([streams(["ok"])]);
    const asked = request([user("hello")]);
    const before = structuredClone(asked);
    await collect(model, asked);
    expect(asked).toEqual(before);
  });
});

const quota = "You exceeded your current quota, please check your plan and billing details.";
const tooLong = "This model's maximum context length is 100 tokens. However, your messages resulted in 200 tokens.";
const REFUSALS: readonly (readonly [string, Reply, Partial<ModelFailure>])[] = [
  [
    "429 with Retry-After",
    refuses(429, { message: "Rate limit reached" }, { "retry-after": "2" }),
    { code: "rate_limited", status: 429, retryAfterMs: 2000, retryable: true },
  ],
  [
    "429 without",
    refuses(429, { message: "slow down" }),
    { code: "rate_limited", retryAfterMs: null, retryable: true },
  ],
  [
    "429 for an empty account",
    refuses(429, { message: quota, code: "insufficient_quota" }),
    { code: "billing", retryable: false },
  ],
  ["402", refuses(402, { message: "Insufficient credits" }), { code: "billing", status: 402 }],
  [
    "401 that echoes the key",
    refuses(401, { message: `Incorrect API key provided: ${KEY}`, code: "invalid_api_key" }),
    { code: "auth", status: 401, retryable: false },
  ],
  ["403", refuses(403, { message: "not for you" }), { code: "auth" }],
  ["400", refuses(400, { message: "Unknown parameter" }), { code: "bad_request", status: 400, retryable: false }],
  ["404 model", refuses(404, { message: "The model `m` does not exist" }), { code: "not_set_up" }],
  [
    "400 context",
    refuses(400, { message: tooLong, code: "context_length_exceeded" }),
    { code: "context_overflow", retryable: false },
  ],
  ["413", refuses(413, { message: "too large" }), { code: "context_overflow" }],
  [
    "400 content filter",
    refuses(400, { message: "blocked by our content management policy", code: "content_filter" }),
    { code: "content_filter" },
  ],
  ["500", refuses(500, { message: "The server had an error" }), { code: "overloaded", status: 500, retryable: true }],
  [
    "503 HTML",
    { kind: "error", status: 503, body: "<html>\n<h1>Busy</h1>\n</html>", headers: { "retry-after": "1" } },
    { code: "overloaded", retryAfterMs: 1000 },
  ],
  ["529", refuses(529, { message: "Overloaded" }), { code: "overloaded" }],
  ["504", refuses(504, { message: "upstream" }), { code: "timeout", retryable: true }],
];

describe("refusals", () => {
  test.each(REFUSALS)("%s", async (_name, reply, expected) => {
    const { server, model } = await against([reply, streams(["second"])]);
    const { answer } = await collect(model, hello);
    expect(answer).toMatchObject({ stop: "failed", content: [], failure: expected });
    expect(answer.failure?.message).toMatch(/^local\/m answered \d{3}: /);
    expect(answer.failure?.message).not.toMatch(/[\n{}]/);
    expect(JSON.stringify(answer)).not.toContain(KEY);
    expect(server.requests).toHaveLength(1);
  });
});

const half = [{ id: "a", name: "write", pieces: ['{"path":"a"}'] }];
const raw = (text: string): Reply => ({ kind: "raw", pieces: [Buffer.from(text)] });
const BROKEN: readonly (readonly [string, Reply, Partial<ModelFailure>])[] = [
  ["cut mid text", streams(["Hel"], { end: { kind: "cut" }, pauseMs: 5 }), { code: "connection", retryable: true }],
  ["cut mid call", streams(["Hel"], { calls: half, end: { kind: "cut" }, pauseMs: 5 }), { code: "connection" }],
  [
    "an end without finish_reason",
    streams(["Hel"], { end: { kind: "unfinished" } }),
    { code: "bad_answer", retryable: true },
  ],
  ["the same with a call", streams(["Hel"], { calls: half, end: { kind: "unfinished" } }), { code: "bad_answer" }],
  ["a chunk that is no JSON", raw(`${event(chunk({ content: "Hel" }))}data: {"broken\n\n`), { code: "bad_answer" }],
  [
    "an error in the stream",
    raw(`${event(chunk({ content: "Hel" }))}${event({ error: { message: "Overloaded", code: 529 } })}`),
    { code: "overloaded" },
  ],
  [
    "finish_reason content_filter",
    streams(["Hel"], { end: { kind: "finish", reason: "content_filter", usage: true } }),
    { code: "content_filter", retryable: false },
  ],
  [
    "an unknown finish_reason",
    streams(["Hel"], { end: { kind: "finish", reason: "weird", usage: true } }),
    { code: "bad_answer" },
  ],
];

describe("broken streams keep their text and lose their calls", () => {
  test.each(BROKEN)("%s", async (_name, reply, expected) => {
    const { model } = await against([reply]);
    const { answer } = await collect(model, hello);
    expect(answer).toMatchObject({ stop: "failed", content: [{ type: "text", text: "Hel" }], failure: expected });
    expect(answer.content).toHaveLength(1);
    expect(answer.failure?.message).toMatch(/^local\/m broke off: /);
  });

  test("no room left for an answer is an overflow", async () => {
    const reply = raw(
      `${event(chunk({}, "length"))}${event({ ...chunk({}), choices: [], usage: { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 } })}data: [DONE]\n\n`,
    );
    const { model } = await against([reply], {}, { contextWindow: 100 });
    expect((await collect(model, hello)).answer.failure?.code).toBe("context_overflow");
  });
});

describe("silence", () => {
  test.each<[string, Reply, Partial<PatienceLimits>]>([
    ["no headers", { kind: "silent" }, { headersMs: 60 }],
    ["headers, no event", streams([], { end: { kind: "stall" } }), { firstTokenMs: 60 }],
    ["a stream that stalls", streams(["Hel"], { end: { kind: "stall" } }), { idleMs: 60 }],
    ["a stream that never ends", streams(Array(2000).fill("x"), { pauseMs: 5 }), { totalMs: 100 }],
  ])("%s is a timeout, and the connection is closed", async (_name, reply, limits) => {
    const { server, model } = await against([reply], limits);
    const { answer } = await collect(model, hello);
    expect(answer).toMatchObject({ stop: "failed", failure: { code: "timeout", retryable: true } });
    expect(answer.failure?.message).toContain(`${Object.values(limits)[0]! / 1000} s`);
    expect(await server.requests[0]?.ended).toBe("closed");
  });

  test("comments that keep the connection open are not progress", async () => {
    const ping = Array.from({ length: 200 }, () => Buffer.from(": ping\n\n"));
    const { server, model } = await against(
      [{ kind: "raw", pieces: [Buffer.from(event(chunk({ content: "Hel" }))), ...ping] }],
      {
        idleMs: 60,
      },
    );
    expect((await collect(model, hello)).answer.failure?.code).toBe("timeout");
    expect(await server.requests[0]?.ended).toBe("closed");
  });

  test("slow but steady is not silence", async () => {
    const { model } = await against([streams(Array(10).fill("x"), { pauseMs: 20 })], {
      idleMs: 150,
      firstTokenMs: 150,
    });
    expect((await collect(model, hello)).text).toBe("xxxxxxxxxx");
  });
});

describe("abort", () => {
  test("closes the connection and keeps the text, without half a call", async () => {
    const { server, model } = await against([streams(["Hel"], { calls: half, end: { kind: "stall" } })]);
    const stop = new AbortController();
    const answer = await model.ask(hello, {
      signal: stop.signal,
      onDelta: (delta) => delta.kind === "call" && stop.abort(),
    });
    expect(answer).toMatchObject({ stop: "aborted", failure: null, content: [{ type: "text", text: "Hel" }] });
    expect(answer.content).toHaveLength(1);
    expect(await server.requests[0]?.ended).toBe("closed");
  });

  test("before the headers", async () => {
    const stop = new AbortController();
    const server = await startOpenAiServer((_request) => {
      stop.abort();
      return { kind: "silent" };
    });
    started.push(server);
    const { answer } = await collect(modelAt(server.url), hello, stop.signal);
    expect(answer).toMatchObject({ stop: "aborted", content: [] });
    expect(await server.requests[0]?.ended).toBe("closed");
  });

  test("before it began: nothing is sent", async () => {
    const { server, model } = await against([streams(["x"])]);
    expect((await collect(model, hello, AbortSignal.abort())).answer.stop).toBe("aborted");
    expect(server.requests).toEqual([]);
  });
});

test("nobody there: a connection failure that names the address and no secret", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  for (const url of [`http://127.0.0.1:${port}/v1?token=secret2`, `http://me:password1@127.0.0.1:${port}/v1`]) {
    const { answer } = await collect(modelAt(url), hello);
    expect(answer).toMatchObject({ stop: "failed", failure: { code: "connection", status: null, retryable: true } });
    expect(answer.failure?.message).toContain(`http://127.0.0.1:${port}/v1`);
    expect(answer.failure?.message).not.toMatch(/password1|secret2/);
  }
});

/** Prints whether the library was loaded: after opening a model, then after asking it. */
const PROBE = `
import { registerHooks } from "node:module";
const seen = [];
registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
const loaded = () => seen.some((url) => url.includes("pi-ai"));
const { openModel } = await import(process.argv[1]);
const { realWorld } = await import("@holdfast/base");
const providers = { local: { baseUrl: "http://127.0.0.1:9/v1" } };
const model = openModel({ choice: "local/m", providers, apiKeyOf: () => null, world: realWorld() });
const opened = loaded();
const request = { system: "", messages: [{ role: "user", content: "x" }], tools: [], sessionId: "s" };
await model.ask(request, { signal: new AbortController().signal, onDelta() {} });
console.log(JSON.stringify([opened, loaded()]));
`;

test("the library is loaded at the first question, not before", async () => {
  const open = new URL("../../../src/model/open.ts", import.meta.url).pathname;
  const options = ["--conditions=holdfast-src", "--input-type=module", "-e", PROBE, open];
  const { stdout } = await promisify(execFile)(process.execPath, options, {
    cwd: new URL("../../..", import.meta.url),
  });
  expect(JSON.parse(stdout)).toEqual([false, true]);
});
