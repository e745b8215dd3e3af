/** The whole way in one process: real files, real lanes, a scripted model. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { failed, rehearsalModel, say, scriptedModel, stalled } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { expect, test, vi } from "vitest";
import { createGateway } from "../src/gateway.ts";
import { silentLog } from "../src/log.ts";
import { temporaryHome } from "./support/home.ts";
import { configOf, startGateway } from "./support/gateway.ts";

const KEY = "agent:main:main";

function transcript(home: string, sessionId: string): Record<string, unknown>[] {
  const file = join(home, "agents", "main", "sessions", `${sessionId}.jsonl`);
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a message is answered, and both are in the transcript under the key", async () => {
  const { gateway, home } = await startGateway({ model: scriptedModel([say("Good morning.")]) });
  const posted = await gateway.send(null, "hello");
  expect(posted).toMatchObject({
    kind: "answered",
    answer: { answer: "Good morning.", session: KEY, durable: true },
  });
  if (posted.kind !== "answered") throw new Error("not answered");
  const roles = transcript(home, posted.answer.sessionId ?? "").flatMap((line) => {
    const message = line.message as { role: string; key?: string } | undefined;
    return message ? [message.role] : [];
  });
  expect(roles).toEqual(["user", "assistant"]);
});

test("the same key and text give the same answer, the model is asked once; another text is refused", async () => {
  const model = scriptedModel([say("one")]);
  const { gateway } = await startGateway({ model });
  const first = await gateway.send(KEY, "hello", { clientKey: "k1" });
  expect(await gateway.send(KEY, "hello", { clientKey: "k1" })).toEqual(first);
  expect(await gateway.send(KEY, "other", { clientKey: "k1" })).toMatchObject({ code: "idempotency_mismatch" });
  expect(model.requests).toHaveLength(1);
});

test("a repeated key whose message is still at work is in flight for whoever waits", async () => {
  const { gateway } = await startGateway({ model: scriptedModel(() => stalled()) });
  const accepted = await gateway.send(KEY, "hello", { clientKey: "k1", wait: false });
  expect(accepted).toMatchObject({ kind: "accepted", item: { clientKey: "k1", text: "hello" } });
  expect(await gateway.send(KEY, "hello", { clientKey: "k1" })).toMatchObject({ kind: "refused", code: "in_flight" });
  expect(await gateway.send(KEY, "hello", { clientKey: "k1", wait: false })).toMatchObject({ kind: "accepted" });
});

test("sessions do not share keys or context", async () => {
  const model = scriptedModel([say("one"), say("two")]);
  const { gateway } = await startGateway({ model });
  await gateway.send(KEY, "in the first", { clientKey: "k" });
  await gateway.send("agent:main:cli:direct:me", "in the second", { clientKey: "k" });
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("in the first");
});

test("one turn per session, several sessions at once, never more than lanes.main", async () => {
  const gate = Promise.withResolvers<void>();
  const busy = { now: 0, most: 0, sessions: [] as string[] };
  const model = scriptedModel(async (request) => {
    busy.now += 1;
    busy.most = Math.max(busy.most, busy.now);
    expect(busy.sessions).not.toContain(request.sessionId);
    busy.sessions.push(request.sessionId);
    if (busy.now === 2) gate.resolve();
    await gate.promise;
    busy.sessions.splice(busy.sessions.indexOf(request.sessionId), 1);
    busy.now -= 1;
    return say("done");
  });
  const { gateway } = await startGateway({ model, config: "{ lanes: { main: 2 } }" });
  const sent = ["a", "a", "b", "c", "b"].map((name) => gateway.send(`agent:main:x:${name}`, "go"));
  for (const posted of await Promise.all(sent)) expect(posted).toMatchObject({ kind: "answered" });
  expect(busy.most).toBe(2);
});

test("a model that fails for good is a visible failure with a way out; the next message is answered", async () => {
  const { gateway } = await startGateway({ model: scriptedModel([failed("auth"), say("back again")]) });
  const posted = await gateway.send(KEY, "hello", { clientKey: "k" });
  expect(posted).toMatchObject({ kind: "refused", code: "turn_failed" });
  expect(JSON.stringify(posted)).toContain("Check the provider's apiKey");
  expect(await gateway.send(KEY, "hello", { clientKey: "k" })).toEqual(posted);
  expect(await gateway.send(KEY, "and now?")).toMatchObject({ kind: "answered", answer: { answer: "back again" } });
});

test("a model that fails once is asked again", async () => {
  const { gateway } = await startGateway({
    model: scriptedModel([failed("overloaded", { retryAfterMs: 5 }), say("now")]),
  });
  expect(await gateway.send(KEY, "hello")).toMatchObject({ answer: { answer: "now" } });
});

test.each([
  ["an unknown provider", '{ agents: { defaults: { model: { primary: "nobody/x" } } } }', "nobody"],
  ["no key", '{ agents: { defaults: { model: { primary: "openai/gpt" } } } }', "openai"],
  ["no model", '{ agents: { defaults: { model: { primary: "openai" } } } }', "openai"],
])("a bad model (%s) does not stop the gateway: it answers with what to do", async (_name, config, says) => {
  const { gateway } = await startGateway({ config, model: "configured" });
  const posted = await gateway.send(null, "hello");
  expect(posted).toMatchObject({ kind: "refused", code: "turn_failed" });
  expect(JSON.stringify(posted)).toContain(says);
  expect(JSON.stringify(posted)).toContain("holdfast.json");
});

test("a stop in the middle of a turn costs nothing: the next start answers", async () => {
  const asked = Promise.withResolvers<void>();
  const hanging = scriptedModel(() => {
    asked.resolve();
    return stalled("half an ans");
  });
  const first = await startGateway({ model: hanging });
  await first.gateway.send(KEY, "hello", { clientKey: "k", wait: false });
  await asked.promise;
  await first.gateway.stop();
  const { gateway } = await startGateway({ home: first.home, model: scriptedModel([say("whole answer")]) });
  await vi.waitFor(async () =>
    expect(await gateway.send(KEY, "hello", { clientKey: "k" })).toMatchObject({ answer: { answer: "whole answer" } }),
  );
});

test("a turn that takes too long fails visibly", async () => {
  const { gateway } = await startGateway({
    model: scriptedModel(() => stalled()),
    config: '{ agents: { defaults: { timeout: "1s" } } }',
  });
  const posted = await gateway.send(KEY, "hello");
  expect(posted).toMatchObject({ kind: "refused", code: "turn_failed" });
  expect(JSON.stringify(posted)).toContain("agents.defaults.timeout");
});

test.each(["../x", "agent:main:../../x", "agent:nobody:main"])(
  "the key %s is refused and leaves no trace",
  async (key) => {
    const { gateway, home } = await startGateway();
    expect(await gateway.send(key, "hello")).toMatchObject({ kind: "refused" });
    expect(readdirSync(join(home, "agents", "main", "sessions")).filter((name) => !name.startsWith("."))).toEqual([]);
  },
);

test("the example is there for a new workspace, and an existing one is left alone", async () => {
  const { home } = await startGateway();
  expect(readFileSync(join(home, "workspace", "notes", "meeting.md"), "utf8")).toMatch(/Meeting notes|会议纪要/);
  const other = await temporaryHome();
  await mkdir(join(other, "workspace"));
  await startGateway({ home: other });
  expect(() => statSync(join(other, "workspace", "notes"))).toThrow();
});

test.each([
  ["lanes.sqlite", "lanes_unusable"],
  ["workspace", "workspace_unusable"],
])("something else in the place of %s: %s, and the home is free again", async (name, code) => {
  const home = await temporaryHome();
  if (name === "workspace") writeFileSync(join(home, name), "");
  else await mkdir(join(home, name));
  await expect(startGateway({ home })).rejects.toMatchObject({ code });
  await expect(startGateway({ home })).rejects.toMatchObject({ code });
});

test("keys are forgotten after lanes.dedupeFor, not before", async () => {
  const home = await temporaryHome();
  const real = realWorld();
  let shift = 0;
  const ticks: (() => void)[] = [];
  const world = {
    ...real,
    nowMs: () => real.nowMs() + shift,
    every(ms: number, run: () => void) {
      if (ms === 3_600_000) ticks.push(run);
      return real.every(ms, run);
    },
  };
  const model = scriptedModel([say("one"), say("two")]);
  const config = configOf('{ lanes: { dedupeFor: "1d" } }');
  await using gateway = createGateway({
    home,
    world,
    config,
    log: silentLog,
    dashboardRoot: null,
    http: null,
    model: () => model,
  });
  await gateway.start();
  await gateway.send(KEY, "hello", { clientKey: "k" });
  for (const tick of ticks) tick();
  expect(await gateway.send(KEY, "hello", { clientKey: "k" })).toMatchObject({ answer: { answer: "one" } });
  shift = 2 * 86_400_000;
  for (const tick of ticks) tick();
  await vi.waitFor(async () => expect(model.remaining()).toBe(1));
});

test("the rehearsal model tells its story with the example notes", async () => {
  const { gateway, home } = await startGateway({ model: rehearsalModel(realWorld()) });
  await gateway.send(null, "Read the meeting notes, pull out the to-dos and save them");
  expect(readFileSync(join(home, "workspace", "notes", "todo.md"), "utf8")).toContain("Book the sound system");
  expect(await gateway.send(null, "the second one, split it finer")).toMatchObject({ kind: "answered" });
});
