/** The OpenAI door, spoken to by OpenAI's own client. */
import { act, failed, say, scriptedModel, stalled } from "@holdfast/agent";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { ask, tokenOf } from "../support/http.ts";

async function started(model = scriptedModel(() => say("Hello there."), { pieceChars: 4 }), config = "{}") {
  const { gateway, home } = await startGateway({ model, config, http: true });
  const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: tokenOf(home), maxRetries: 0 });
  const sessions = async () => {
    const headers = { authorization: `Bearer ${tokenOf(home)}` };
    return (await ask(`${gateway.address}/api/sessions`, { headers })).json() as { sessions: { key: string }[] };
  };
  return { gateway, client, model, sessions };
}
const user = (content: string) => ({ role: "user", content }) as const;

test("models are the agents", async () => {
  const { client } = await started();
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(["holdfast/main"]);
});

test("a completion, not streamed; a stateless call leaves no session", async () => {
  const { client, sessions } = await started();
  const answer = await client.chat.completions.create({ model: "holdfast/main", messages: [user("hi")] });
  expect(answer).toMatchObject({
    object: "chat.completion",
    model: "holdfast/main",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
    usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
  });
  expect(await sessions()).toEqual({ sessions: [] });
});

test("streamed: the pieces make the answer, the end and the usage are there", async () => {
  const { client, sessions } = await started();
  const stream = await client.chat.completions.create({
    model: "anything",
    messages: [user("hi")],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const pieces = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta.content ?? ""));
  expect(pieces.join("")).toBe("Hello there.");
  expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
  expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason)).filter(Boolean)).toEqual([
    "stop",
  ]);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
  expect(await sessions()).toEqual({ sessions: [] });
});

test("a stateless call brings its own history: instructions, earlier turns, parts of text", async () => {
  const { client, model } = await started();
  await client.chat.completions.create({
    model: "holdfast/main",
    messages: [
      { role: "system", content: "Speak like a sailor." },
      user("my name is Ana"),
      { role: "assistant", content: "Ahoy Ana" },
      { role: "user", content: [{ type: "text", text: "what is my name?" }] },
    ],
  });
  const asked = JSON.stringify(model.requests[0]?.messages);
  for (const text of ["Speak like a sailor.", "my name is Ana", "Ahoy Ana", "what is my name?"])
    expect(asked).toContain(text);
});

test("`user` and the header pick a session that remembers; two users are two sessions", async () => {
  const { client, model, sessions } = await started();
  const create = (content: string, who: string) =>
    client.chat.completions.create({ model: "holdfast/main", messages: [user(content)], user: who });
  await create("first of ana", "ana");
  await create("first of bo", "bo");
  await create("second of ana", "ana");
  const asked = model.requests.map((request) => JSON.stringify(request.messages));
  expect(asked[2]).toContain("first of ana");
  expect(asked[2]).not.toContain("first of bo");
  await client.chat.completions.create(
    { model: "holdfast/main", messages: [user("through the header")] },
    { headers: { "x-holdfast-session": "agent:main:main" } },
  );
  const keys = (await sessions()).sessions.map(({ key }) => key).sort();
  expect(keys).toEqual(["agent:main:main", "agent:main:openai:direct:ana", "agent:main:openai:direct:bo"]);
});

test("in a session, streamed, with a tool in between: both texts come, set apart", async () => {
  const model = scriptedModel([act("read", { path: "notes/meeting.md" }), say("I read it.")]);
  const { client } = await started(model);
  const stream = await client.chat.completions.create({
    model: "holdfast/main",
    messages: [user("read it")],
    user: "ana",
    stream: true,
  });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe("I read it.");
});

test.each([
  ["no user message at the end", { messages: [{ role: "assistant", content: "x" }] }, 400, "bad_request"],
  ["no messages", { messages: [] }, 400, "bad_request"],
  ["an unknown agent", { model: "holdfast/nobody", messages: [user("x")] }, 404, "no_agent"],
])("%s is refused in OpenAI's form", async (_name, body, status, code) => {
  const { client } = await started();
  const refused = client.chat.completions.create({ model: "holdfast/main", ...body } as never);
  await expect(refused).rejects.toMatchObject({ status, code, type: "invalid_request_error" });
});

test("a wrong key is an authentication error", async () => {
  const { gateway } = await started();
  const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: "wrong-key", maxRetries: 0 });
  await expect(client.models.list()).rejects.toMatchObject({ status: 401, type: "authentication_error" });
});

test.each([true, false])("a model that fails is an error with the reason (stream %s)", async (stream) => {
  const { client } = await started(scriptedModel(() => failed("auth")));
  for (const who of [undefined, "ana"]) {
    const call = client.chat.completions.create({
      model: "m",
      messages: [user("x")],
      stream,
      ...(who ? { user: who } : {}),
    });
    await expect(call).rejects.toMatchObject({
      status: 502,
      code: "turn_failed",
      message: expect.stringContaining("apiKey"),
    });
  }
});

const PROVIDER_SAYS = [
  ["rate_limited", 429, "rate_limit_exceeded", "rate_limit_error"],
  ["billing", 429, "insufficient_quota", "insufficient_quota"],
  ["overloaded", 503, "overloaded", "server_error"],
  ["timeout", 504, "timeout", "server_error"],
  ["context_overflow", 400, "context_length_exceeded", "invalid_request_error"],
  ["content_filter", 400, "content_filter", "invalid_request_error"],
  ["bad_request", 400, "bad_request", "invalid_request_error"],
  ["not_set_up", 502, "turn_failed", "server_error"],
] as const;

test("a model that fails: the client gets what the provider would have said", async () => {
  const current: { failure: (typeof PROVIDER_SAYS)[number][0] } = { failure: "rate_limited" };
  const { client } = await started(scriptedModel(() => failed(current.failure, { retryAfterMs: 3_000 })));
  for (const [failure, status, code, type] of PROVIDER_SAYS) {
    current.failure = failure;
    const error = await client.chat.completions.create({ model: "m", messages: [user("x")] }).then(
      () => null,
      (reason: unknown) => reason as InstanceType<typeof OpenAI.APIError>,
    );
    expect(error).toMatchObject({ status, code, type });
    const comesBack = failure === "rate_limited" || failure === "overloaded" || failure === "timeout";
    expect(error?.headers?.get("retry-after"), failure).toBe(comesBack ? "3" : null);
  }
});

test("text that was streamed and withdrawn ends the stream with an error, never as an answer", async () => {
  const { client } = await started(scriptedModel([failed("bad_request", { after: "half an" })]));
  const stream = await client.chat.completions.create({ model: "m", messages: [user("x")], stream: true });
  const read = async () => {
    for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason).not.toBe("stop");
  };
  await expect(read()).rejects.toThrow();
});

test("no more stateless calls at once than lanes.main", async () => {
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel(() => {
    asked.resolve();
    return stalled();
  });
  const { client } = await started(model, "{ lanes: { main: 1 } }");
  const gone = new AbortController();
  const first = client.chat.completions.create({ model: "m", messages: [user("x")] }, { signal: gone.signal });
  await asked.promise;
  await expect(client.chat.completions.create({ model: "m", messages: [user("y")] })).rejects.toMatchObject({
    status: 429,
    code: "too_busy",
  });
  gone.abort();
  await expect(first).rejects.toThrow();
});
