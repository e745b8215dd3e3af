/** Requests that are odd but arrive: each gets the promised answer, and none hangs, uses something up or leaves a trace. */
import { act, say, scriptedModel } from "@holdfast/agent";
import type { ToolCallBlock } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { type Asked, ask, tokenOf } from "../support/http.ts";

const SESSION = "/api/sessions/agent:main:main";

async function started(model = scriptedModel(() => say("hi"))) {
  const { gateway, home } = await startGateway({ model, http: true });
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const get = (at: string, asked: Asked = {}) => ask(gateway.address + at, { headers, ...asked });
  const post = (at: string, body: object) => get(at, { method: "POST", body });
  return { gateway, model, get, post };
}

test.each([
  ["/api/sessions/%zz/entries", { error: { code: "bad_request", details: expect.any(Object) } }],
  ["/v1/%E4%BD", { error: { code: "bad_request", type: "invalid_request_error" } }],
])("%s cannot be decoded: 400 in the promised form", async (at, body) => {
  const { get } = await started();
  const refused = await get(at);
  expect([refused.status, refused.json()]).toMatchObject([400, body]);
  expect(refused.headers["x-content-type-options"]).toBe("nosniff");
});

test("HEAD answers: a stream has a head and no end to wait for", async () => {
  const { get } = await started();
  const head = await get(`${SESSION}/stream`, { method: "HEAD" });
  expect([head.status, head.headers["content-type"], head.text]).toEqual([
    200,
    expect.stringContaining("event-stream"),
    "",
  ]);
});

test("HEAD does not use the sign-in link up", async () => {
  const { gateway } = await started();
  const link = gateway.signInLink()!;
  const head = await ask(link, { method: "HEAD" });
  expect(head.headers["set-cookie"]).toBeUndefined();
  expect((await ask(link)).headers["set-cookie"]).toHaveLength(1);
  expect((await ask(link)).status).toBe(401);
});

test("what stands before an entry that is not there: 404", async () => {
  const { get, post } = await started();
  await post(`${SESSION}/messages`, { text: "hello", wait: true });
  const refused = await get(`${SESSION}/entries?before=nope`);
  expect([refused.status, refused.json()]).toMatchObject([404, { error: { code: "entry_missing" } }]);
});

test.each(["", "   ", "\n\t\u3000"])("the text %j says nothing and is refused", async (text) => {
  const { model, post } = await started();
  expect((await post(`${SESSION}/messages`, { text, wait: true })).status).toBe(400);
  const messages = [{ role: "user", content: text }];
  expect((await post("/v1/chat/completions", { model: "holdfast/main", messages })).status).toBe(400);
  expect(model.requests).toHaveLength(0);
});

test("half a character as user is refused", async () => {
  const { post } = await started();
  const messages = [{ role: "user", content: "hi" }];
  const refused = await post("/v1/chat/completions", { model: "holdfast/main", messages, user: "\ud800" });
  expect([refused.status, refused.json()]).toMatchObject([400, { error: { code: "bad_request" } }]);
});

test("arguments nested 4,000 levels deep are refused to the model, and the conversation goes on", async () => {
  let deep: ToolCallBlock["arguments"] = {};
  for (let level = 0; level < 4_000; level++) deep = { deep };
  const script = scriptedModel([act("write", { path: "a" }), say("well")]);
  const model: typeof script = {
    ...script,
    async ask(...asked) {
      const answer = await script.ask(...asked);
      const content = answer.content.map((block) =>
        block.type === "toolCall" ? { ...block, arguments: deep } : block,
      );
      return { ...answer, content };
    },
  };
  const { post } = await started(model);
  const answered = await post(`${SESSION}/messages`, { text: "go", wait: true });
  expect([answered.status, answered.json()]).toMatchObject([200, { answer: "well" }]);
  expect(JSON.stringify(script.requests[1]?.messages.at(-1))).toContain("levels deep");
});
