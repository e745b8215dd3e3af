/** Queues, steering, restarts and sends that went wrong elsewhere; ids as in the collection of cases. */
import { act, say, type ScriptedStep, scriptedModel, stalled } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { memoryLanes } from "../../src/lane-stores/memory.ts";
import { silentLog } from "../../src/log.ts";
import { runningTurns } from "../../src/queue/running.ts";
import { createTurns } from "../../src/turns.ts";
import type { WireEvent } from "../../src/wire/index.ts";
import { startGateway } from "../support/gateway.ts";
import { temporaryHome } from "../support/home.ts";

/** A busy machine may take its time. */
const waitFor = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 15_000 });
const KEY = "agent:main:main";

/** A home with one tool of its own, whose work is the test's: it waits at a gate and counts. */
async function homeWithWork() {
  const home = await temporaryHome();
  const gate = { ran: 0, waits: [] as (() => void)[] };
  (globalThis as Record<string, unknown>).__gate = gate;
  const source = `const gate = globalThis.__gate;
export default { spec: { name: "work", description: "x", parameters: { type: "object" } }, effect: "checkable",
  check: () => null, identity: (args) => args.name, probe: async () => ({ kind: "unknown", evidence: {}, says: "" }),
  run: async () => { gate.ran += 1; await new Promise((go) => gate.waits.push(go)); return { ok: true, text: "worked " + gate.ran }; } };`;
  await writeFile(join(home, "work.mjs"), source);
  const config = JSON.stringify({ tools: { modules: ["work.mjs"] } });
  const begun = (count: number) => waitFor(() => expect(gate.waits.length).toBe(count));
  return { home, config, gate, begun, go: () => gate.waits.at(-1)?.() };
}

const usersIn = (model: ReturnType<typeof scriptedModel>, at: number) =>
  (model.requests.at(at)?.messages ?? [])
    .filter(({ role }) => role === "user")
    .map((message) => JSON.stringify(message.content));

test("B097 a steering message that a stop overtakes is not lost: it is dropped, told, and what comes next is answered", async () => {
  const { home, config, begun, go } = await homeWithWork();
  const model = scriptedModel([act("work", { name: "a" }, { tool: "work", args: { name: "b" } }), say("On.")]);
  const { gateway } = await startGateway({ home, config, model });
  const first = gateway.send(KEY, "go");
  await begun(1);
  const steer = gateway.send(KEY, "use metric", { mode: "steer" });
  await waitFor(async () => expect(await gateway.open(KEY)).toHaveLength(2));
  const stop = gateway.send(KEY, "stop");
  await waitFor(async () => expect((await gateway.open(KEY)).map(({ text }) => text)).toContain("stop"));
  go();
  expect(await steer).toMatchObject({ details: { text: expect.stringContaining("stopped before") } });
  expect([(await first).kind, (await stop).kind]).toEqual(["refused", "answered"]);
  expect(await gateway.send(KEY, "go on, metric")).toMatchObject({ answer: { answer: "On." } });
  expect(usersIn(model, -1).filter((text) => text.includes("use metric"))).toEqual([]);
  expect(usersIn(model, -1).filter((text) => text.includes("go on, metric"))).toHaveLength(1);
});

test("B099 a message in the middle of a turn neither ends it nor is lost: one answer for each", async () => {
  const { home, config, begun, go } = await homeWithWork();
  const model = scriptedModel([act("work", { name: "a" }), say("A and B.")]);
  const { gateway } = await startGateway({ home, config, model });
  const first = gateway.send(KEY, "check A");
  await begun(1);
  const second = gateway.send(KEY, "also check B", { mode: "steer" });
  await waitFor(async () => expect(await gateway.open(KEY)).toHaveLength(2));
  go();
  expect(await Promise.all([first, second])).toMatchObject([
    { answer: { answer: "A and B." } },
    { answer: { answer: "A and B." } },
  ]);
});

test("B101, B116 a message that is delivered again, during its turn, right after it and after a restart, runs once", async () => {
  const { home, config, begun, go } = await homeWithWork();
  const model = scriptedModel([act("work", { name: "a" }), say("Once.")]);
  const { gateway } = await startGateway({ home, config, model });
  const deliver = (to = gateway) => to.send(KEY, "do it", { clientKey: "p-5", wait: false });
  await deliver();
  await begun(1);
  await deliver();
  go();
  await waitFor(async () => expect(await gateway.open(KEY)).toEqual([]));
  await deliver();
  await gateway.stop();
  const again = scriptedModel([]);
  const { gateway: later } = await startGateway({ home, config, model: again });
  await deliver(later);
  expect(await later.open(KEY)).toEqual([]);
  expect([model.requests.length, again.requests.length]).toEqual([2, 0]);
});

test("B103 an answer that was ready first does not make the other outdated: both leave, in the order of the questions", async () => {
  const { gateway } = await startGateway({ model: scriptedModel([say("One."), say("Two.")]) });
  const answers = await Promise.all([gateway.send(KEY, "one"), gateway.send(KEY, "two")]);
  expect(answers).toMatchObject([{ answer: { answer: "One." } }, { answer: { answer: "Two." } }]);
});

test.each<readonly [string, readonly ScriptedStep[], string]>([
  ["a silent answer", [say("NO_REPLY")], "{}"],
  ["an error", [() => Promise.reject(new Error("broken"))], "{}"],
  ["a refusal", [{ kind: "failed", code: "auth", message: "no", status: 401, retryAfterMs: null, after: "" }], "{}"],
  ["a limit of time", [stalled("so")], '{ agents: { defaults: { timeout: "1s" } } }'],
])("B105 whoever shows that somebody writes is told the end: %s", async (_name, script, config) => {
  const { gateway } = await startGateway({ model: scriptedModel(script), config });
  const seen: WireEvent[] = [];
  using _listening = gateway.hub.listen(KEY, null, (_id, event) => void seen.push(event));
  void gateway.send(KEY, "hi").catch(() => undefined);
  const turns = () => seen.flatMap((event) => (event.type === "turn" ? [event.state] : []));
  await waitFor(() => expect(turns().slice(0, 2)).toEqual(["began", "ended"]));
});

test("B107 two messages of one sender at once are both answered, each time", async () => {
  const { gateway } = await startGateway({ model: scriptedModel(() => say("yes")) });
  for (let round = 0; round < 20; round++) {
    const key = `agent:main:web:round-${round}`;
    const both = await Promise.all([
      gateway.send(key, "one", { mode: "steer" }),
      gateway.send(key, "two", { mode: "steer" }),
    ]);
    expect(both.map(({ kind }) => kind)).toEqual(["answered", "answered"]);
  }
});

test("B108 a turn that never ends gives its lane back at the end of its time", async () => {
  const real = realWorld();
  // Time passes at once.
  const world = { ...real, sleep: async () => undefined };
  const store = memoryLanes(world);
  const hanging = { id: "main", sessions: { open: () => new Promise(() => undefined) } };
  const turns = createTurns({
    store,
    holder: "me",
    world,
    log: silentLog,
    timeoutMs: () => 1_000,
    running: runningTurns(),
    agent: () => hanging as never,
    changed() {},
    wakeOut() {},
  });
  const address = { channel: "web", account: "local", chat: "c", thread: null };
  const message = { key: "k", text: "t", from: { id: "owner", name: null, owner: true }, address, receivedMs: 0 };
  await store.enqueue({ lane: "main", key: "k", queue: KEY, body: { message, clientKey: null } as never }, 0);
  const item = (await store.claim({ lane: "main", holder: "me", nowMs: 1, leaseMs: 1_000 }))!;
  expect(await turns.work(item, new AbortController().signal)).toEqual({ kind: "settled" });
  expect(await store.get(item.id)).toMatchObject({ state: "failed", result: { code: "turn_timeout" } });
});

test("B109 conversations do not wait for each other", async () => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  const model = scriptedModel(async ({ sessionId }) => {
    asked.push(sessionId);
    if (asked.length === 9) all.resolve();
    await all.promise;
    return say("yes");
  });
  const { gateway } = await startGateway({ model, config: "{ lanes: { main: 9 } }" });
  const sent = Array.from({ length: 9 }, (_, n) => gateway.send(`agent:main:web:${n}`, "hi"));
  expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(Array(9).fill("answered"));
});

test("B115 messages that wait when the gateway stops are answered after the next start, in order, each once", async () => {
  const asked = Promise.withResolvers<void>();
  const hanging = scriptedModel(() => {
    asked.resolve();
    return stalled("…");
  });
  const { gateway, home } = await startGateway({ model: hanging });
  for (let n = 1; n <= 5; n++) await gateway.send(KEY, `m${n}`, { clientKey: `k${n}`, wait: false });
  await asked.promise;
  const stopping = gateway.stop();
  await expect(gateway.send(KEY, "m6", { clientKey: "k6" })).rejects.toMatchObject({ code: "stopping" });
  await stopping;
  let answered = 0;
  const model = scriptedModel(() => say(`answer ${++answered}`));
  const { gateway: next } = await startGateway({ home, model });
  for (let n = 1; n <= 6; n++) await next.send(KEY, `m${n}`, { clientKey: `k${n}`, wait: false });
  await waitFor(async () => expect(await next.open(KEY)).toEqual([]));
  const last = usersIn(model, -1).map((text) => /m\d/.exec(text)?.[0]);
  expect(last).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
  expect(answered).toBe(6);
});

test("B117 an act that was done before the kill is not done again by the turn that goes on", async () => {
  const { home, config, gate, begun, go } = await homeWithWork();
  const first = await startGateway({ home, config, model: scriptedModel([act("work", { name: "job" })]) });
  await first.gateway.send(KEY, "schedule it", { clientKey: "k", wait: false });
  await begun(1);
  const stopping = first.gateway.stop();
  go();
  await stopping;
  const model = scriptedModel([act("work", { name: "job" }), say("It is scheduled.")]);
  const { gateway } = await startGateway({ home, config, model });
  await waitFor(async () => expect(await gateway.open(KEY)).toEqual([]));
  expect(gate.ran).toBe(1);
});

test("B119 the same business act twice in one turn is done once, and the second says so", async () => {
  const { home, config, gate, begun, go } = await homeWithWork();
  const model = scriptedModel([
    act("work", { name: "mail" }),
    act("work", { name: "mail", again: true }),
    say("Sent once."),
  ]);
  const { gateway } = await startGateway({ home, config, model });
  const answer = gateway.send(KEY, "send the mail");
  await begun(1);
  go();
  expect(await answer).toMatchObject({ answer: { answer: "Sent once." } });
  expect([gate.ran, JSON.stringify(model.requests.at(-1)?.messages).includes("not done again")]).toEqual([1, true]);
});

test("B123 a conversation that breaks every turn is given up after a few, the others work", async () => {
  const broken: ScriptedStep = ({ sessionId }) =>
    sessionId === bad.id ? Promise.reject(new Error("heap")) : say("fine");
  const bad = { id: "" };
  const { gateway } = await startGateway({ model: scriptedModel(broken) });
  const made = await gateway.send("agent:main:web:bad", "hello");
  bad.id = made.kind === "answered" ? (made.answer.sessionId ?? "") : "";
  const given = gateway.send("agent:main:web:bad", "and now?");
  expect(await gateway.send("agent:main:web:good", "hello")).toMatchObject({ answer: { answer: "fine" } });
  expect(await given).toMatchObject({ kind: "refused", code: "turn_failed" });
  expect(await gateway.send("agent:main:web:good", "still?")).toMatchObject({ answer: { answer: "fine" } });
});
