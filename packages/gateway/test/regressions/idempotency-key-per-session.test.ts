/** A client's key counts in its own session, however keys of sessions and clients are spelled. */
import { say, scriptedModel } from "@holdfast/agent";
import { expect, test } from "vitest";
import type { WireAnswer } from "../../src/wire/index.ts";
import { startGateway } from "../support/gateway.ts";
import { ask, tokenOf } from "../support/http.ts";

const KEY = "agent:main:web:direct:ana";

async function started() {
  const model = scriptedModel((request) => say(`answer to ${JSON.stringify(request.messages.at(-1)?.content)}`));
  const { gateway, home } = await startGateway({ model, http: true });
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const post = (at: string, body: object, more: Readonly<Record<string, string>>) =>
    ask(`${gateway.address}${at}`, { method: "POST", headers: { ...headers, ...more }, body });
  return { model, post };
}

test.each([
  ["thread:9:n1", "n1", ":thread:9"],
  ["a:b%3A", "b%3A", ":a"],
  ["a%3Ab", "a:b", ""],
])("%s in one session and %s in another are two messages", async (keyOfFirst, keyOfSecond, suffix) => {
  const { model, post } = await started();
  const send = (key: string, clientKey: string, text: string) =>
    post(`/api/sessions/${encodeURIComponent(key)}/messages`, { text, wait: true }, { "idempotency-key": clientKey });
  const first = await send(KEY, keyOfFirst, "hello");
  const second = await send(`${KEY}${suffix}`, keyOfSecond, "hello");
  expect([first.status, second.status]).toEqual([200, 200]);
  expect((second.json() as WireAnswer).entryId).not.toBe((first.json() as WireAnswer).entryId);
  expect(model.requests).toHaveLength(2);
  expect((await send(KEY, keyOfFirst, "hello")).json()).toEqual(first.json());
  expect(model.requests).toHaveLength(2);
});

test("the OpenAI door takes the same keys and refuses the same", async () => {
  const { model, post } = await started();
  const complete = (clientKey: string) =>
    post(
      "/v1/chat/completions",
      { model: "holdfast/main", messages: [{ role: "user", content: "hi" }], user: "ana" },
      { "idempotency-key": clientKey },
    );
  expect((await complete("k")).status).toBe(200);
  expect((await complete("k")).status).toBe(200);
  expect(model.requests).toHaveLength(1);
  const refused = await complete("k".repeat(201));
  expect([refused.status, refused.json()]).toMatchObject([400, { error: { code: "bad_request" } }]);
});
