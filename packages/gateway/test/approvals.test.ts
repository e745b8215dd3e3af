/** Calls that need a yes: asked, parked, decided from anywhere, across restarts, and never run with anything else. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { act, say, type ScriptedStep, scriptedModel } from "@holdfast/agent";
import { expect, test, vi } from "vitest";
import type { Gateway } from "../src/gateway.ts";
import { tokenOf } from "./support/http.ts";
import { startGateway } from "./support/gateway.ts";

/** A busy machine may take its time. */
const waitFor = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 15_000 });
const KEY = "agent:main:main";
const RUN = { command: "echo ran >> ran.txt; echo done" };
const ran = (home: string): string | null => {
  const file = join(home, "workspace", "ran.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : null;
};

async function asking(script: readonly ScriptedStep[] = [act("exec", RUN), say("It is done.")], config = "{}") {
  const model = scriptedModel(script);
  const made = await startGateway({ model, config });
  const asked = await made.gateway.send(KEY, "run it", { clientKey: "first" });
  return { ...made, model, asked };
}

const state = async (gateway: Gateway) => (await gateway.open(KEY)).map((item) => item.state);
const lastOf = async (gateway: Gateway, key: string) => gateway.send(KEY, "run it", { clientKey: key });

test("the call waits, the sender is asked, and the lane is free for others", async () => {
  const { gateway, home, asked, model } = await asking([act("exec", RUN), say("Sunny.")]);
  expect(asked).toMatchObject({ kind: "answered", answer: { answer: expect.stringContaining("echo ran >> ran.txt") } });
  expect(JSON.stringify(asked)).toMatch(/\/approve [0-9a-f]{8}/);
  expect(await state(gateway)).toEqual(["waiting"]);
  expect(await gateway.send(KEY, "weather?")).toMatchObject({ answer: { answer: "Sunny." } });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("waits for the owner's approval");
  expect(ran(home)).toBeNull();
});

test("yes: it runs once, with the real result, and the message is answered", async () => {
  const { gateway, home, model } = await asking();
  expect(await gateway.send(KEY, "/approve")).toMatchObject({ answer: { answer: "Approved. It is run now." } });
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect(await lastOf(gateway, "first")).toMatchObject({ answer: { answer: "It is done." } });
  expect(ran(home)).toBe("ran\n");
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("done");
});

test.each(["no", "拒绝", "/deny"])("%s: it is not run, and the model is told", async (word) => {
  const { gateway, home, model } = await asking([act("exec", RUN), say("Then not.")]);
  await gateway.send(KEY, word);
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect(await lastOf(gateway, "first")).toMatchObject({ answer: { answer: "Then not." } });
  expect([ran(home), JSON.stringify(model.requests.at(-1)?.messages).includes("the owner said no")]).toEqual([
    null,
    true,
  ]);
});

test("a message first, the yes later: the call is made again by itself and goes on from there", async () => {
  const { gateway, home } = await asking([act("exec", RUN), say("Sunny."), say("Now it is done.")]);
  await gateway.send(KEY, "weather?");
  await gateway.send(KEY, "同意");
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect(await lastOf(gateway, "first")).toMatchObject({ answer: { answer: "Now it is done." } });
  expect(ran(home)).toBe("ran\n");
});

test("it waits through a restart, and the decision does as well", async () => {
  const first = await asking();
  await first.gateway.stop();
  const { gateway } = await startGateway({ home: first.home, model: scriptedModel([say("After the restart.")]) });
  expect(await state(gateway)).toEqual(["waiting"]);
  await gateway.send(KEY, "yes");
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect(ran(first.home)).toBe("ran\n");
});

test("the first decision counts; a late one gets an honest answer", async () => {
  const { gateway, home } = await asking();
  const id = /\/approve (\S+)/.exec(JSON.stringify(await lastOf(gateway, "first")))?.[1];
  const both = await Promise.all([gateway.send(KEY, `/approve ${id}`), gateway.send(KEY, `/deny ${id}`)]);
  expect(both).toMatchObject([
    { answer: { answer: "Approved. It is run now." } },
    { answer: { answer: expect.stringMatching(/Too late: it was approved|No such request/) } },
  ]);
  await waitFor(() => expect(ran(home)).toBe("ran\n"));
  expect(await gateway.send(KEY, "/approve ffff")).toMatchObject({
    answer: { answer: expect.stringContaining("No such request") },
  });
});

test("a yes is for one call: the same command again is asked about again", async () => {
  const { gateway, home } = await asking([act("exec", RUN), act("exec", RUN), say("Both.")]);
  await gateway.send(KEY, "yes");
  await waitFor(async () => expect([ran(home), await state(gateway)]).toEqual(["ran\n", ["waiting"]]));
});

test("all calls of an answer are asked for at once", async () => {
  const second = { tool: "exec", args: { command: "echo two >> ran.txt" } };
  const { gateway, home, asked } = await asking([act("exec", RUN, second), say("Both.")]);
  const ids = [...JSON.stringify(asked).matchAll(/\/approve (\S+?) /g)].map(([, id]) => id);
  expect(ids).toHaveLength(2);
  await gateway.send(KEY, `/approve ${ids[1]}`);
  await waitFor(async () => expect(await state(gateway)).toEqual(["waiting"]));
  expect(ran(home)).toBeNull();
  await gateway.send(KEY, `/approve ${ids[0]}`);
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect(ran(home)).toBe("ran\ntwo\n");
});

test("a stop ends what waits; a later yes runs nothing", async () => {
  const { gateway, home } = await asking();
  await gateway.send(KEY, "stop");
  expect(await state(gateway)).toEqual([]);
  expect(await gateway.send(KEY, "/approve")).toMatchObject({
    answer: { answer: expect.stringContaining("No such request") },
  });
  expect(ran(home)).toBeNull();
});

test("nobody answers in time: not run, and the message is answered", async () => {
  const config = "{ agents: { defaults: { tools: { approvalExpires: '1ms' } } } }";
  const { gateway, home } = await asking([act("exec", RUN), say("Nobody said yes.")], config);
  await waitFor(async () => expect(await state(gateway)).toEqual([]));
  expect([ran(home), await lastOf(gateway, "first")]).toMatchObject([null, { answer: { answer: "Nobody said yes." } }]);
});

test("over HTTP: listed, decided, and only with the token", async () => {
  const model = scriptedModel([act("exec", RUN), say("Done.")]);
  const { gateway, home } = await startGateway({ model, http: true });
  await gateway.send(KEY, "run it");
  const headers = { authorization: `Bearer ${tokenOf(home)}`, "content-type": "application/json" };
  const list = async () => (await (await fetch(`${gateway.address}/api/approvals`, { headers })).json()).approvals;
  const [approval] = await list();
  expect(approval).toMatchObject({ tool: "exec", summary: RUN.command, session: KEY, askedFor: "run it" });
  const url = `${gateway.address}/api/approvals/${approval.id}`;
  const post = (body: unknown, more = {}) =>
    fetch(url, { method: "POST", headers, body: JSON.stringify(body), ...more });
  expect((await post({ decision: "yes" }, { headers: { "content-type": "application/json" } })).status).toBe(401);
  expect((await post({ decision: "perhaps" })).status).toBe(400);
  expect((await post({ decision: "yes" })).status).toBe(200);
  await waitFor(async () => expect([ran(home), await list()]).toEqual(["ran\n", []]));
  expect((await post({ decision: "yes" })).status).toBe(404);
});
