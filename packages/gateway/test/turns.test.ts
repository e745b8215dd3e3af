/** What becomes of an item when somebody else is at work, or when every attempt breaks. */
import { join } from "node:path";
import { type Agent, act, say, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { openSessions } from "@holdfast/sessions";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTurns, type TurnsOptions } from "../src/turns.ts";
import { memoryLanes } from "../src/lane-stores/memory.ts";
import { runningTurns } from "../src/queue/running.ts";
import { silentLog } from "../src/log.ts";
import { temporaryHome } from "./support/home.ts";
import { startGateway } from "./support/gateway.ts";

const KEY = "agent:main:main";

// Takes a second: the delay of the first wait is real.
test("a session in other hands: the message waits, uncharged, and is answered", async () => {
  const home = await temporaryHome();
  const sessions = await openSessions({ directory: join(home, "agents", "main", "sessions"), agentId: "main" });
  onTestFinished(() => sessions.close());
  const session = await sessions.open(KEY);
  const theirs = await session.claimTurn("somebody", 60_000);
  if (theirs.kind !== "claimed") throw new Error("not claimed");
  const { gateway } = await startGateway({ home, model: scriptedModel([say("hello")]) });
  const sent = gateway.send(KEY, "hi");
  const db = new DatabaseSync(join(home, "lanes.sqlite"));
  const counts = () => ({ ...db.prepare("select claims, attempts, state from items where lane = 'main'").get() });
  const tried = { claims: 1, attempts: 0, state: "queued" };
  await vi.waitFor(() => expect(counts()).toEqual(tried), { timeout: 15_000 });
  await session.releaseTurn(theirs.right);
  await session.close();
  expect(await sent).toMatchObject({ kind: "answered" });
  await gateway.stop();
  expect(counts()).toEqual({ claims: 2, attempts: 1, state: "done" });
  db.close();
});

test("an item whose every attempt breaks fails visibly at the limit, with the reason", async () => {
  const world = realWorld();
  const store = memoryLanes(world);
  const changed: string[] = [];
  const options: TurnsOptions = {
    store,
    holder: "me",
    world,
    log: silentLog,
    timeoutMs: () => 1000,
    agent: () => undefined,
    running: runningTurns(),
    changed: (id) => changed.push(id),
    wakeOut() {},
  };
  const { failed } = createTurns(options);
  const address = { channel: "web", account: "local", chat: "c", thread: null };
  const message = { key: "k", text: "t", from: { id: "owner", name: null, owner: true }, address, receivedMs: 0 };
  await store.enqueue({ lane: "main", key: "k", queue: KEY, body: { message, clientKey: null } as never }, 0);
  const delays: number[] = [];
  for (let attempt = 1; attempt <= 4; attempt++) {
    const item = (await store.claim({ lane: "main", holder: "me", nowMs: 1e15, leaseMs: 1 }))!;
    const after = await failed(item, new Error("the file is damaged"));
    if (after.kind === "again") {
      delays.push(after.delayMs);
      await store.commit("me", [{ kind: "release", id: item.id, notBeforeMs: 0 }], 0);
    }
  }
  expect(delays).toHaveLength(3);
  const [item] = await store.list({ lane: "main" });
  expect(item).toMatchObject({ state: "failed", attempts: 3 });
  expect(JSON.stringify(item?.result)).toContain("the file is damaged");
  expect(await store.list({ lane: "out" })).toHaveLength(1);
  expect(changed.length).toBeGreaterThan(0);
});

test("progress earns attempts: many steps in one message are not used up", async () => {
  const steps = Array.from({ length: 12 }, (_, at) => act("write", { path: `notes/${at}.md`, content: "x" }));
  const { gateway } = await startGateway({ model: scriptedModel([...steps, say("written often")]) });
  expect(await gateway.send(KEY, "write often")).toMatchObject({ answer: { answer: "written often" } });
});

test.each([
  ["before its first entry", false],
  ["in a later attempt", true],
])("who slept until another had answered writes nothing more: %s", async (_when, begun) => {
  const world = realWorld();
  const store = memoryLanes(world);
  const home = await temporaryHome();
  const sessions = await openSessions({ directory: join(home, "sessions"), agentId: "main" });
  onTestFinished(() => sessions.close());
  const model = scriptedModel([say("hello"), say("hello again")]);
  const gatewayOf = (holder: string) => {
    const agents: { agent?: Agent } = {};
    const rest = { running: runningTurns(), changed() {}, wakeOut() {}, timeoutMs: () => 60_000, log: silentLog };
    const turns = createTurns({ store, holder, world, agent: () => agents.agent, ...rest });
    const made = { id: "main", sessions, model, tools: new Map(), workspace: home, world, holder, observe() {} };
    const own = { id: "h", boot: "b", fsync: "always", actions: home } as const;
    agents.agent = { ...made, home: own, allowed: () => null, ...turns };
    return turns;
  };
  const address = { channel: "web", account: "local", chat: "c", thread: null };
  const message = { key: "k", text: "t", from: { id: "owner", name: null, owner: true }, address, receivedMs: 0 };
  await store.enqueue({ lane: "main", key: "k", queue: KEY, body: { message, clientKey: null } as never }, 0);
  const claim = (holder: string) => store.claim({ lane: "main", holder, nowMs: world.nowMs(), leaseMs: 30_000 });
  await using session = await sessions.open(KEY);
  const start = begun ? { sessionId: session.id, leaf: session.leaf() } : null;
  const slept = { ...(await claim("sleeper"))!, start };
  await store.takeOver("other");
  const taken = { ...(await claim("other"))!, start };
  expect(await gatewayOf("other").work(taken, new AbortController().signal)).toEqual({ kind: "settled" });
  await session.catchUp();
  const before = (await session.since(null)).length;
  expect(await gatewayOf("sleeper").work(slept, new AbortController().signal)).toMatchObject({ kind: "again" });
  await session.catchUp();
  expect((await session.since(null)).length).toBe(before);
  expect(await store.list({ lane: "out" })).toHaveLength(1);
});
