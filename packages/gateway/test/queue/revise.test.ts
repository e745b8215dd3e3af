/** Messages that are changed or taken back while they wait, and too late. */
import { act, say, scriptedModel } from "@holdfast/agent";
import { expect, test, vi } from "vitest";
import type { Channel } from "../../src/channels.ts";
import { accept } from "../../src/accept.ts";
import { startGateway } from "../support/gateway.ts";
import { ask, tokenOf } from "../support/http.ts";

const KEY = "agent:main:main";

async function busy() {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const model = scriptedModel([
    async () => {
      asked.resolve();
      await go.promise;
      return say("One.");
    },
    say("Two."),
  ]);
  const { gateway, home } = await startGateway({ model, http: true });
  const first = gateway.send(KEY, "one");
  await asked.promise;
  const second = gateway.send(KEY, "tow");
  const waiting = async () => (await gateway.open(KEY)).find(({ text }) => text === "tow");
  await vi.waitFor(async () => expect(await waiting()).toBeDefined());
  const request = async (method: string, id: string, body?: object) => {
    const address = `${gateway.address}/api/sessions/${KEY}/items/${id}`;
    const headers = { authorization: `Bearer ${tokenOf(home)}` };
    const { status, json } = await ask(address, { method, headers, ...(body && { body }) });
    return { status, body: json() };
  };
  return { gateway, model, first, second, go: () => go.resolve(), item: (await waiting())!, request };
}

const heard = (model: ReturnType<typeof scriptedModel>) => JSON.stringify(model.requests.at(-1)!.messages);

test("what waits can be changed: the model reads the new text, and never the old one", async () => {
  const { model, second, go, item, request } = await busy();
  expect(await request("PATCH", item.id, { text: "two" })).toMatchObject({
    status: 200,
    body: { item: { text: "two" } },
  });
  go();
  expect(await second).toMatchObject({ answer: { answer: "Two." } });
  expect(heard(model)).toContain('"two"');
  expect(heard(model)).not.toContain("tow");
});

test("what waits can be taken back: nobody answers it, and whoever waits for it is told", async () => {
  const { model, first, second, go, item, request } = await busy();
  expect(await request("DELETE", item.id)).toMatchObject({ status: 200, body: { item: { state: "dropped" } } });
  go();
  expect(await first).toMatchObject({ answer: { answer: "One." } });
  expect(await second).toMatchObject({ kind: "refused", details: { text: expect.stringContaining("took it back") } });
  expect(model.requests).toHaveLength(1);
  expect(await request("DELETE", item.id)).toMatchObject({ status: 409, body: { error: { code: "item_taken" } } });
});

test("what is being answered cannot be changed, nor what another conversation has; nonsense is refused", async () => {
  const { gateway, go, first, item, request } = await busy();
  const running = (await gateway.open(KEY)).find(({ state }) => state === "running")!;
  expect(await request("PATCH", running.id, { text: "x" })).toMatchObject({ status: 409 });
  expect(await request("DELETE", running.id)).toMatchObject({ status: 409 });
  expect(await request("PATCH", "nothing", { text: "x" })).toMatchObject({ status: 409 });
  expect(await request("PATCH", item.id, { text: "  " })).toMatchObject({ status: 400 });
  expect(await request("PATCH", item.id, {})).toMatchObject({ status: 400 });
  go();
  await first;
});

test("a channel says so by an arrival of the same key; accept gives it to the queue and makes no new item", async () => {
  const revised: unknown[] = [];
  const message = { key: "k", text: "new", from: { id: "1", name: null, owner: true } } as never;
  const channel = {
    parse: () => ({ message, asked: null, clientKey: null, revision: "edited" }),
  } as unknown as Channel;
  const receipt = await accept({}, channel, {
    route: () => ({ kind: "to", agentId: "main", sessionKey: KEY }),
    refuse: () => expect.fail("not refused"),
    enqueue: () => expect.fail("not enqueued"),
    async revise(arrival, sessionKey) {
      revised.push([arrival.message.text, sessionKey]);
      return { kind: "too_late" };
    },
  });
  expect([receipt, revised]).toEqual([{ kind: "too_late" }, [["new", KEY]]]);
});

test("after a tool call began, an edit of its message is too late and changes nothing", async () => {
  const model = scriptedModel([act("read", { path: "AGENTS.md" }), say("Done.")]);
  const { gateway, home } = await startGateway({ model, http: true });
  expect(await gateway.send(KEY, "look")).toMatchObject({ answer: { answer: "Done." } });
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const snapshot = await ask(`${gateway.address}/api/sessions/${KEY}/entries`, { headers });
  const [item] = (snapshot.json() as { items: { id: string }[] }).items;
  const late = await ask(`${gateway.address}/api/sessions/${KEY}/items/${item!.id}`, { method: "DELETE", headers });
  expect(late.status).toBe(409);
});
