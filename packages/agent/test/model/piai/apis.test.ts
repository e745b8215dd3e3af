/** Every protocol against a local server that speaks it: whole answers, calls, refusals, cut and silent streams. */
import { realWorld } from "@holdfast/base";
import type { EntryMessage } from "@holdfast/sessions";
import { afterEach, describe, expect, test } from "vitest";
import { APIS, PROVIDERS } from "../../../src/model/providers.ts";
import { openModel } from "../../../src/model/open.ts";
import { listed } from "../../../src/model/piai/catalog.ts";
import { DIALECTS, type Dialect, says } from "../../support/dialects.ts";
import { type OpenAiServer, type Reply, startOpenAiServer } from "../../support/openai-server.ts";
import { collect, request, user } from "../../support/requests.ts";

const KEY = "sk-very-secret-0123456789";
const world = realWorld(() => {});
const started: OpenAiServer[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.close();
});

async function against({ api, base }: Dialect, script: readonly Reply[]) {
  const server = await startOpenAiServer(script);
  started.push(server);
  const baseUrl = new URL(server.url).origin + base;
  const providers = { local: { api, baseUrl, apiKey: KEY } };
  return { server, model: openModel({ choice: "local/m", providers, apiKeyOf: () => null, world }) };
}

const hello = request([user("hello")]);
const call = { id: "call00001", name: "read", pieces: ['{"path":', '"notes/会议.md"}'] };

test("every protocol that can be configured has its tests here", () => {
  expect(DIALECTS.map(({ api }) => api)).toEqual([...APIS]);
});

describe.each(DIALECTS)("$api", (dialect) => {
  test("text as it comes, with key, system text, usage and who answered", async () => {
    const { server, model } = await against(dialect, [says(dialect, { text: ["Hel", "lo ", "你好"] })]);
    const { answer, deltas, text } = await collect(model, hello);
    expect(answer).toMatchObject({ stop: "stop", failure: null, usage: dialect.usage });
    expect(answer.by).toEqual({ provider: "local", model: "m", api: dialect.api });
    expect(text).toBe("Hello 你好");
    expect(deltas).toEqual(["Hel", "lo ", "你好"].map((one) => ({ kind: "text", text: one })));
    const [seen] = server.requests;
    expect(seen!.path).toMatch(dialect.path);
    expect(String(dialect.keyOf(seen!))).toContain(KEY);
    expect(dialect.systemOf(seen!.body)).toContain("You help.");
  });

  test("a call whose arguments come in pieces, and its result in the next request under the same id", async () => {
    const script = [says(dialect, { text: ["Looking."], call }), says(dialect, { text: ["done"] })];
    const { server, model } = await against(dialect, script);
    const first = await collect(model, hello);
    expect(first.answer.stop).toBe("toolUse");
    expect(first.calls).toMatchObject([{ name: "read", arguments: { path: "notes/会议.md" } }]);
    const { id } = first.calls[0]!;
    const asked: EntryMessage = {
      role: "assistant",
      content: [...first.answer.content],
      ...first.answer.by,
      stopReason: "toolUse",
    };
    const content = [{ type: "text" as const, text: "ten o'clock" }];
    const result: EntryMessage = { role: "toolResult", toolCallId: id, toolName: "read", content, isError: false };
    expect((await collect(model, request([user("hello"), asked, result]))).text).toBe("done");
    const results = dialect.resultsOf(server.requests[1]!.body);
    expect(results).toHaveLength(1);
    // Google knows calls by their names; the library's ids of Responses name two things, of which servers see the first.
    expect(results[0]![0]).toBe(dialect.api === "google-generative-ai" ? "read" : id.split("|")[0]);
    expect(results[0]![1]).toContain("ten o'clock");
  });

  test("cut for length: the text stays, a call that may be half does not", async () => {
    const { model } = await against(dialect, [says(dialect, { text: ["So far"], call, end: "length" })]);
    const { answer, text, calls } = await collect(model, hello);
    expect([answer.stop, text, calls.length]).toEqual(["length", "So far", 0]);
  });

  test("a stream that ends in the middle is no answer; a half call is none", async () => {
    const { model } = await against(dialect, [says(dialect, { text: ["So f"], call, end: "none" })]);
    const { answer, calls } = await collect(model, hello);
    expect([answer.stop, calls.length]).toEqual(["failed", 0]);
    expect(answer.failure?.retryable).toBe(true);
  });

  test.each([
    [401, "invalid api key", "auth", false],
    [402, "insufficient balance", "billing", false],
    [429, "slow down", "rate_limited", true],
    [503, "overloaded", "overloaded", true],
    [400, "bad field", "bad_request", false],
  ] as const)("%i %s: %s", async (status, message, code, retryable) => {
    const body = dialect.refusal(status, `${message} ${KEY}`);
    const headers: Record<string, string> = status === 429 ? { "retry-after": "7" } : {};
    const { server, model } = await against(dialect, [{ kind: "error", status, body, headers }]);
    const { answer } = await collect(model, hello);
    expect(answer.failure).toMatchObject({ code, retryable, retryAfterMs: status === 429 ? 7_000 : null });
    expect(answer.failure?.message).toContain(`local/m answered ${status}: ${message} [key].`);
    expect(server.requests).toHaveLength(1);
  });

  test("aborted in the middle: the connection is closed, and nothing is a failure", async () => {
    const frames = dialect.frames({ text: ["Once ", "upon"], end: "none" });
    const hold = { kind: "raw", pieces: [Buffer.from(frames.join("")), new Uint8Array(0)], stays: true } as const;
    const { server, model } = await against(dialect, [hold]);
    const stop = new AbortController();
    const answer = await model.ask(hello, { signal: stop.signal, onDelta: () => stop.abort() });
    expect([answer.stop, answer.failure]).toEqual(["aborted", null]);
    expect(await server.requests[0]!.ended).toBe("closed");
  });
});

test("known providers need a key alone; what the catalogue lists has its window and prices", async () => {
  for (const [id, { catalog, baseUrl }] of Object.entries(PROVIDERS)) {
    expect(openModel({ choice: `${id}/m`, providers: {}, apiKeyOf: () => KEY, world }).name).toBe(`${id}/m`);
    expect(URL.canParse(baseUrl)).toBe(true);
    if (catalog !== null) expect(await listed(catalog, "nobody"), id).toBeUndefined();
  }
  const [claude] = Object.values((await import("@earendil-works/pi-ai/providers/anthropic.models")).ANTHROPIC_MODELS);
  expect(await listed("anthropic", claude!.id)).toMatchObject({ contextWindow: claude!.contextWindow });
});
