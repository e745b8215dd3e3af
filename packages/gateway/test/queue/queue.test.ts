/** Messages to a busy conversation, through a whole gateway: each mode, stops, and what gives way. */
import { act, say, type ScriptedStep, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { expect, test, vi } from "vitest";
import { mainItem, turnItem } from "../../src/bodies.ts";
import { memoryLanes } from "../../src/lane-stores/memory.ts";
import { arrived } from "../../src/queue/arrived.ts";
import { plan, settingsFor, type Waiting } from "../../src/queue/plan.ts";
import { isStop } from "../../src/queue/words.ts";
import type { Gateway } from "../../src/gateway.ts";
import { startGateway } from "../support/gateway.ts";

/** A busy machine may take its time. */
const waitFor = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 15_000 });
const KEY = "agent:main:main";

/** A gateway whose model waits at its first question until it is let go; what it was asked is kept. */
async function busyGateway(script: readonly ScriptedStep[], queue: Record<string, unknown> = {}) {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const model = scriptedModel(
    script.map((step, index) =>
      index > 0
        ? step
        : async (request) => {
            asked.resolve();
            await go.promise;
            return typeof step === "function" ? step(request) : step;
          },
    ),
  );
  const { gateway } = await startGateway({ model, config: JSON.stringify({ queue }) });
  return { gateway, model, asked: asked.promise, go: () => go.resolve() };
}

/** What people wrote, without the lines above it. */
const questions = (model: ReturnType<typeof scriptedModel>) =>
  model.requests.map(({ messages }) =>
    messages.flatMap((message) =>
      message.role === "user" && Array.isArray(message.content)
        ? message.content
            .map((block) => ("text" in block ? block.text : ""))
            .filter((text) => text !== message.envelope)
        : [],
    ),
  );

const waiting = async (gateway: Gateway) => (await gateway.open(KEY)).filter(({ state }) => state === "queued").length;

test("steer: a message that comes during a tool call is answered in the same turn, and both senders get the answer", async () => {
  const { gateway, model, asked, go } = await busyGateway([act("read", { path: "notes/meeting.md" }), say("Both.")]);
  const first = gateway.send(KEY, "帮我查下天气");
  await asked;
  const second = gateway.send(KEY, "还有明天的日程", { mode: "steer" });
  await waitFor(async () => expect(await waiting(gateway)).toBe(1));
  go();
  expect(await Promise.all([first, second])).toMatchObject([
    { answer: { answer: "Both." } },
    { answer: { answer: "Both." } },
  ]);
  expect(questions(model)).toEqual([["帮我查下天气"], ["帮我查下天气", "还有明天的日程"]]);
});

test("followup: each message gets a turn and an answer of its own", async () => {
  const { gateway, model, asked, go } = await busyGateway([say("One."), say("Two.")]);
  const first = gateway.send(KEY, "one");
  await asked;
  const second = gateway.send(KEY, "two");
  go();
  expect(await Promise.all([first, second])).toMatchObject([
    { answer: { answer: "One." } },
    { answer: { answer: "Two." } },
  ]);
  expect(questions(model)).toEqual([["one"], ["one", "two"]]);
});

test("collect: what waited is taken together", async () => {
  const { gateway, model, asked, go } = await busyGateway([say("One."), say("Two and three.")], { debounceMs: 1 });
  const first = gateway.send(KEY, "one");
  await asked;
  const later = ["two", "three"].map((text) => gateway.send(KEY, text, { mode: "collect" }));
  await waitFor(async () => expect(await waiting(gateway)).toBe(2));
  go();
  expect(await Promise.all([first, ...later])).toHaveLength(3);
  expect(questions(model).at(-1)).toEqual(["one", "two", "three"]);
});

test("interrupt: the turn at work ends without a reply, the newer message is answered", async () => {
  const { gateway, asked, go } = await busyGateway([say("One."), say("Two.")]);
  const first = gateway.send(KEY, "one");
  await asked;
  const second = gateway.send(KEY, "two", { mode: "interrupt" });
  await waitFor(async () => expect(await waiting(gateway)).toBe(1));
  go();
  expect(await Promise.all([first, second])).toMatchObject([
    { kind: "refused", code: "turn_failed" },
    { answer: { answer: "Two." } },
  ]);
});

test("a stop: the turn ends on record, what waits is dropped, and the stop is answered", async () => {
  const { gateway, model, asked, go } = await busyGateway([say("never sent")]);
  const first = gateway.send(KEY, "write a book");
  await asked;
  const poem = gateway.send(KEY, "and a poem");
  await waitFor(async () => expect(await waiting(gateway)).toBe(1));
  const stop = gateway.send(KEY, "停！");
  await waitFor(async () => expect((await gateway.open(KEY)).map(({ text }) => text)).toContain("停！"));
  go();
  expect(await stop).toMatchObject({ answer: { answer: "已停止。还在等待的 1 条消息不再处理。" } });
  expect(await poem).toMatchObject({ kind: "refused", details: { text: expect.stringContaining("stopped before") } });
  expect(await first).toMatchObject({ kind: "refused", code: "turn_failed" });
  expect(model.requests).toHaveLength(1);
  expect(await gateway.send(KEY, "stop")).toMatchObject({ answer: { answer: "Nothing was running." } });
});

test.each(["summarize", "old", "new"] as const)("at the cap, drop %s: nothing vanishes", async (drop) => {
  const { gateway, model, asked, go } = await busyGateway([say("1"), say("2"), say("3")], { cap: 2, drop });
  const sent = [gateway.send(KEY, "m1")];
  await asked;
  for (const [index, text] of ["m2", "m3", "m4"].entries()) {
    sent.push(gateway.send(KEY, text));
    await waitFor(async () => expect(await waiting(gateway)).toBe(Math.min(2, index + 1)));
  }
  go();
  const answered = (await Promise.all(sent)).map((posted) => posted.kind);
  expect(answered).toEqual(
    drop === "new" ? ["answered", "answered", "answered", "refused"] : ["answered", "refused", "answered", "answered"],
  );
  const told = JSON.stringify(model.requests.at(-1)?.messages).includes("dropped because too many");
  expect(told).toBe(drop === "summarize");
});

test("only a message that is nothing but a stop word stops", () => {
  for (const text of ["stop", " Stop! ", "/stop", "停", "停止。", "先别改", "等一下……", "please stop", "ＳＴＯＰ"])
    expect(isStop(text), text).toBe(true);
  for (const text of ["stop the music at ten", "don't stop", "不要停止", "继续细化", "停车场在哪", "", "x".repeat(100)])
    expect(isStop(text), text).toBe(false);
});

test("a channel may have settings of its own", () => {
  const queue = {
    mode: "steer",
    debounceMs: 500,
    cap: 20,
    drop: "old",
    byChannel: { telegram: { mode: "collect" } },
  } as const;
  expect(settingsFor("telegram", queue)).toEqual({ mode: "collect", debounceMs: 500, cap: 20, drop: "old" });
  expect(settingsFor("constructor", queue)).toMatchObject({ mode: "steer" });
});

test("what a turn has begun or taken in does not give way", () => {
  const item = (id: string, free: boolean): Waiting => ({
    id,
    free,
    message: { text: id, from: { id: "owner" } } as never,
    acceptedMs: 0,
    dropped: [],
    approvals: [],
  });
  const settings = { mode: "followup", debounceMs: 0, cap: 1, drop: "old" } as const;
  const planned = plan(
    { message: { text: "new", from: { id: "owner", owner: true } } as never },
    { waiting: [item("a", false), item("b", true)], running: ["owner"], nowMs: 0 },
    settings,
  );
  expect(planned).toMatchObject({ kind: "queue", drops: ["b"] });
});

test("text that came as text is no order", async () => {
  expect(
    plan(
      { message: { text: "stop", from: { owner: true } } as never, literal: true },
      { waiting: [], running: [], nowMs: 0 },
      { mode: "steer", debounceMs: 0, cap: 9, drop: "old" },
    ),
  ).toMatchObject({
    kind: "queue",
  });
});

test("a message that was begun before is not taken into another one's turn", async () => {
  const world = realWorld();
  const store = memoryLanes(world);
  const address = { channel: "web", account: "local", chat: "c", thread: null };
  const put = async (key: string) => {
    const message = { key, text: key, from: { id: "o", name: null, owner: true }, address, receivedMs: 0 };
    return (await store.enqueue(mainItem({ message, asked: null, clientKey: null }, KEY, { mode: "steer" }), 0)).item;
  };
  const parked = await put("parked");
  const claim = async () => (await store.claim({ lane: "main", holder: "me", nowMs: 1, leaseMs: 9_000 }))!;
  await claim();
  const start = { sessionId: "s", leaf: null };
  await store.commit(
    "me",
    [
      { kind: "note", id: parked.id, patch: { start } },
      { kind: "park", id: parked.id, result: {} },
    ],
    1,
  );
  await put("second");
  await put("third");
  const second = await claim();
  await store.commit("", [{ kind: "wake", id: parked.id }], 2);
  expect((await arrived(turnItem(second), store)).steer).toEqual([]);
});

test("a turn whose item was ended by somebody else meanwhile learns that its right is lost", async () => {
  const store = memoryLanes(realWorld());
  const address = { channel: "web", account: "local", chat: "me", thread: null };
  const message = { key: "k", text: "do it", from: { id: "owner", name: null, owner: true }, address, receivedMs: 1 };
  await store.enqueue(mainItem({ message, asked: null, clientKey: null }, KEY, { mode: "followup" }), 1);
  const item = await store.claim({ lane: "main", holder: "me", nowMs: 1, leaseMs: 100 });
  if (item === undefined) throw new Error("nothing to claim");
  expect(await arrived(turnItem(item), store)).toMatchObject({ stop: null });
  await store.commit("me", [{ kind: "settle", id: item.id, state: "failed", result: {} }], 2);
  await expect(arrived(turnItem(item), store)).rejects.toMatchObject({ code: "right_lost" });
});
