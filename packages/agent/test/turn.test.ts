import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LIMITS, realWorld } from "@holdfast/base";
import { openSessions } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { act, failed, say, sayAndAct, scriptedModel, stalled } from "../src/model/scripted.ts";
import { builtinTools } from "../src/tools/builtin.ts";
import { turn } from "../src/turn.ts";
import { agentOf, dataOf, entriesOf, KEY, laneOf, messageOf, outline, resultsOf } from "./support/agent.ts";
import { stage } from "./support/stage.ts";
import { temporaryWorkspace } from "./support/workspace.ts";

const WRITE = { path: "a.txt", content: "hello" };

describe("a first message", () => {
  test("is heard, answered and queued, in that order, under one right", async () => {
    await using on = await stage();
    const lane = laneOf("你好");
    const outcome = await on.run(lane, [say("Hello!")]);
    const entries = await entriesOf(on.sessions);
    expect(outline(entries)).toEqual(["session", "turn", "model_change", "thinking_level_change", "user", "answer"]);
    const [, , , , heard, answered] = entries;
    expect(messageOf(heard)).toMatchObject({ key: "web:local:me:1", content: [{ type: "text", text: "你好" }] });
    expect(heard).toMatchObject({ from: { id: "me" }, address: { channel: "web" }, t: 1 });
    expect(answered).toMatchObject({ answers: [heard?.id], seen: heard?.id, t: 1 });
    expect(lane.finished).toEqual([{ to: lane.item.message.address, text: "Hello!", entryId: answered?.id }]);
    expect(outcome).toEqual({
      kind: "replied",
      sessionId: lane.item.start?.sessionId,
      entryId: answered?.id,
      text: "Hello!",
    });
    expect(lane.observed.map((one) => one.kind)).toEqual(["turn", "entries", "entries", "delta", "entries", "turn"]);
  });

  test("names the model once, and again when it changes", async () => {
    await using on = await stage();
    await on.run(laneOf("one", "k1"), [say("1")]);
    await on.run(laneOf("two", "k2"), [say("2")]);
    const other = scriptedModel([say("3")], { name: "other/model/x" });
    await on.run(laneOf("three", "k3"), [], { model: other });
    const changes = (await entriesOf(on.sessions)).filter((entry) => entry.type === "model_change");
    expect(changes).toMatchObject([
      { provider: "scripted", modelId: "script" },
      { provider: "other", modelId: "model/x" },
    ]);
  });

  test("delivered again it is neither heard nor answered twice", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const first = await on.run(lane, [say("Hello!")]);
    const again = await on.run(lane, [say("never said")]);
    expect(again).toEqual(first);
    expect(lane.finished).toHaveLength(1);
    expect(outline(await entriesOf(on.sessions)).filter((word) => word === "user")).toHaveLength(1);
  });
});

describe("tools", () => {
  test("an intent stands before each effect, the promised result after it", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.run(lane, [act("write", WRITE, { tool: "read", args: { path: "a.txt" } }), say("Saved.")]);
    const entries = await entriesOf(on.sessions);
    expect(outline(entries).slice(4)).toEqual(["user", "calls", "intent", "toolResult", "toolResult", "answer"]);
    const [intent] = dataOf(entries, "intent");
    const called = entries.find((entry) => outline([entry])[0] === "calls");
    expect(intent).toMatchObject({
      tool: "write",
      effect: "checkable",
      attempt: 1,
      entryId: called?.id,
      ordinal: 0,
      home: "home-1",
    });
    expect(entries.find((entry) => entry.id === intent?.resultId)).toMatchObject({
      call: { entryId: called?.id, ordinal: 0 },
    });
    expect(resultsOf(entries)).toMatchObject([
      { isError: false, toolName: "write" },
      { isError: false, content: [{ text: "hello" }] },
    ]);
    expect(await readFile(`${on.path}/a.txt`, "utf8")).toBe("hello");
  });

  test("what cannot run is answered with the reason, and nothing is done", async () => {
    await using on = await stage();
    const cut = { type: "toolCall", id: "c9", name: "write", arguments: {}, argumentsError: "cut off" } as const;
    const model = scriptedModel([
      sayAndAct(
        "Trying.",
        { tool: "fly", args: {} },
        { tool: "write", args: { path: 1 } },
        { tool: "exec", args: { command: "touch x" } },
      ),
      say("None of it."),
    ]);
    const ask = model.ask.bind(model);
    const spoiled = {
      ...model,
      ask: async (...args: Parameters<typeof ask>) => {
        const answer = await ask(...args);
        return model.requests.length > 1 ? answer : { ...answer, content: [...answer.content, cut] };
      },
    };
    await on.run(laneOf("do"), [], {
      model: spoiled,
      allowed: (_message, tool) => (tool.spec.name === "exec" ? "No commands here." : null),
    });
    const entries = await entriesOf(on.sessions);
    expect(resultsOf(entries).map((result) => [result.isError, JSON.stringify(result.content)])).toEqual([
      [
        true,
        expect.stringMatching(
          /no tool \\"fly\\". Tools: read, write, edit, append, move, delete, exec, process, http_request/,
        ),
      ],
      [true, expect.stringMatching(/arguments are not valid: .*path/)],
      [true, expect.stringMatching(/No commands here/)],
      [true, expect.stringMatching(/arguments are not valid: cut off/)],
    ]);
    expect(dataOf(entries, "intent")).toEqual([]);
  });

  test("a tool that throws gives an error result", async () => {
    await using on = await stage();
    const [bad] = [...builtinTools().values()].filter((tool) => tool.spec.name === "write");
    if (bad === undefined) throw new Error("no write tool");
    const broken = { ...bad, run: () => Promise.reject(new Error("disk on fire")) };
    await on.run(laneOf("save"), [act("write", WRITE), say("Failed.")], { tools: new Map([["write", broken]]) });
    expect(resultsOf(await entriesOf(on.sessions))).toMatchObject([
      { isError: true, content: [{ text: "write failed: disk on fire" }] },
    ]);
  });

  test("a turn that never ends stops visibly", async () => {
    await using on = await stage();
    const lane = laneOf("loop");
    const loop = Array.from({ length: 60 }, (_, at) => act("write", { path: `n${at}.txt`, content: "x" }));
    expect(await on.run(lane, loop)).toMatchObject({ kind: "stopped", code: "turn_steps_max" });
    expect(lane.finished).toMatchObject([{ text: expect.stringMatching(new RegExp(`${LIMITS.turnStepsMax} steps`)) }]);
    expect(outline(await entriesOf(on.sessions)).at(-1)).toBe("failure");
  });
});

describe("a model that fails", () => {
  test("retryable: noted, withdrawn, tried again later", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const outcome = await on.run(lane, [failed("overloaded", { after: "Hel" })]);
    expect(outcome).toMatchObject({ kind: "retry", delayMs: 1_000, failure: { code: "overloaded" } });
    expect(lane.observed.map((one) => one.kind)).toContain("withdrawn");
    expect(dataOf(await entriesOf(on.sessions), "attempt")).toMatchObject([{ code: "overloaded", attempt: 1 }]);
    const second = await on.run({ ...lane, item: { ...lane.item, attempt: 3 } }, [
      failed("rate_limited", { retryAfterMs: 7_000 }),
    ]);
    expect(second).toMatchObject({ kind: "retry", delayMs: 7_000 });
    expect(await on.run(lane, [say("Hello!")])).toMatchObject({ kind: "replied" });
    expect(lane.finished).toHaveLength(1);
  });

  test.each([
    ["ten days", 864_000_000, "864000 s"],
    ["for ever", Number.MAX_SAFE_INTEGER / 1000, " s, at "],
  ])(
    "a provider that wants %s is not waited for: the sender reads when it may be asked again",
    async (_name, ms, says) => {
      await using on = await stage();
      const lane = laneOf("hi");
      const outcome = await on.run(lane, [failed("rate_limited", { retryAfterMs: ms })]);
      expect(outcome).toMatchObject({ kind: "stopped", code: "model_failed", text: expect.stringContaining(says) });
      expect(lane.finished).toMatchObject([{ text: expect.stringContaining(says) }]);
    },
  );

  test("all attempts and waits of one message stay within the turn's time limit", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const busy = failed("rate_limited", { retryAfterMs: 200_000 });
    const run = () => on.run(lane, [busy], { timeoutMs: 500_000 });
    expect(await run()).toMatchObject({ kind: "retry", delayMs: 200_000 });
    expect(await run()).toMatchObject({ kind: "retry" });
    expect(await run()).toMatchObject({ kind: "stopped", code: "model_failed" });
    expect(lane.finished).toHaveLength(1);
  });

  test("the delay doubles", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    lane.item = { ...lane.item, attempt: 4 };
    expect(await on.run(lane, [failed("timeout")])).toMatchObject({ kind: "retry", delayMs: 8_000 });
  });

  test("an empty answer is a failure, not silence", async () => {
    await using on = await stage();
    expect(await on.run(laneOf("hi"), [say("  ")])).toMatchObject({ kind: "retry", failure: { code: "bad_answer" } });
  });

  test("an answer that breaks off by itself is a failure, not an abort", async () => {
    await using on = await stage();
    const model = scriptedModel([say("Hel")]);
    const ask: typeof model.ask = async (...asked) => ({ ...(await model.ask(...asked)), stop: "aborted" });
    expect(await on.run(laneOf("hi"), [], { model: { name: model.name, ask } })).toMatchObject({
      kind: "retry",
      failure: { code: "bad_answer" },
    });
  });

  test("not retryable: the sender reads why and what to do, once", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const outcome = await on.run(lane, [failed("auth", { message: "The key was refused." })]);
    expect(outcome).toMatchObject({
      kind: "stopped",
      code: "model_failed",
      text: expect.stringMatching(/^The key was refused\.\nCheck [^\n]*holdfast\.json\.$/),
    });
    const entries = await entriesOf(on.sessions);
    const failure = entries.at(-1);
    expect(messageOf(failure)).toMatchObject({
      stopReason: "error",
      content: [],
      errorMessage: expect.stringMatching(/key was refused/),
    });
    expect(failure).toMatchObject({ stopped: "model_failed", failure: "auth" });
    expect(lane.finished).toMatchObject([{ entryId: failure?.id }]);
    expect(await on.run(lane, [say("never said")])).toEqual(outcome);
    expect(outline(await entriesOf(on.sessions)).filter((word) => word === "failure")).toHaveLength(1);
  });

  test("attempts used up: fails visibly with the last reason", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    lane.budget = 1;
    await on.run(lane, [failed("connection", { message: "no route" })]);
    const outcome = await on.run(lane, [say("never said")]);
    expect(outcome).toMatchObject({ kind: "stopped", code: "attempts_used", text: expect.stringMatching(/no route/) });
    expect(lane.finished).toHaveLength(1);
    expect(await on.run(lane, [])).toEqual(outcome);
  });

  test("attempts used up before anything: the message is kept and fails visibly", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    lane.budget = 0;
    expect(await on.run(lane, [])).toMatchObject({ kind: "stopped", code: "attempts_used" });
    expect(outline(await entriesOf(on.sessions)).slice(-2)).toEqual(["user", "failure"]);
  });

  test("attempts used up with the answer in the log: it is sent", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    await on.run(lane, [say("Hello!")]);
    lane.finished.length = 0;
    lane.ended.length = 0;
    lane.budget = 0;
    expect(await on.run(lane, [])).toMatchObject({ kind: "replied", text: "Hello!" });
    expect(lane.finished).toMatchObject([{ text: "Hello!" }]);
  });
});

describe("other hands", () => {
  test("a right that is held makes the item wait, uncharged", async () => {
    await using on = await stage();
    await using session = await on.sessions.open(KEY);
    await session.claimTurn("somebody", LIMITS.leaseMs);
    const lane = laneOf("hi");
    expect(await on.run(lane, [say("no")])).toEqual({ kind: "busy", by: "somebody", delayMs: LIMITS.busyDelayMs });
    expect([lane.budget, lane.item.start]).toEqual([100, null]);
  });

  test("the right is free again after the turn", async () => {
    await using on = await stage();
    await on.run(laneOf("hi"), [say("Hello!")]);
    await using session = await on.sessions.open(KEY);
    expect(await session.claimTurn("next", LIMITS.leaseMs)).toMatchObject({ kind: "claimed", right: { t: 2 } });
  });

  test("a right lost while the model thinks: the answer is not written", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const steal = async () => {
      on.world.ms += LIMITS.leaseMs + 1;
      await using session = await on.sessions.open(KEY);
      expect(await session.claimTurn("thief", LIMITS.leaseMs)).toMatchObject({ kind: "claimed" });
      return say("too late");
    };
    expect(await on.run(lane, [steal], { holder: "sleeper" })).toEqual({
      kind: "stopped",
      code: "stale_turn",
      entryId: null,
      text: "",
    });
    expect(outline(await entriesOf(on.sessions)).at(-1)).toBe("user");
    expect(lane.finished).toEqual([]);
  });

  test("a renewal that finds the right lost aborts the model at once", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const running = on.run(lane, [stalled("Hel")], { holder: "sleeper" });
    while (!lane.observed.some((one) => one.kind === "delta")) await on.world.sleep(1);
    on.world.ms += LIMITS.leaseMs + 1;
    await using session = await on.sessions.open(KEY);
    await session.claimTurn("thief", LIMITS.leaseMs);
    on.world.renew();
    expect(await running).toMatchObject({ kind: "stopped", code: "stale_turn" });
    expect(lane.observed.map((one) => one.kind)).toContain("withdrawn");
  });

  test("a renewal that fails ends the turn with its own reason", async () => {
    await using on = await stage();
    await using session = await on.sessions.open(KEY);
    session.renewTurn = () => Promise.reject(new Error("EIO"));
    const lane = laneOf("hi");
    const running = on.run(lane, [stalled("Hel")]);
    while (!lane.observed.some((one) => one.kind === "delta")) await on.world.sleep(1);
    on.world.renew();
    await expect(running).rejects.toThrow("EIO");
    expect(lane.observed.at(-1)).toMatchObject({ kind: "turn", state: "ended", outcome: "fault" });
  });

  test("renewed in time it is kept", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const wait = async () => {
      on.world.ms += LIMITS.leaseMs - 1;
      on.world.renew();
      await on.world.sleep(5);
      on.world.ms += LIMITS.leaseMs - 1;
      await using session = await on.sessions.open(KEY);
      expect(await session.claimTurn("thief", LIMITS.leaseMs)).toMatchObject({ kind: "held" });
      return say("Hello!");
    };
    expect(await on.run(lane, [wait], { holder: "worker" })).toMatchObject({ kind: "replied" });
  });

  test("an abort withdraws what was shown and writes nothing", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const stop = new AbortController();
    const running = on.run(lane, [stalled("Hel")], { signal: stop.signal });
    while (!lane.observed.some((one) => one.kind === "delta")) await on.world.sleep(1);
    stop.abort();
    expect(await running).toEqual({ kind: "stopped", code: "cancelled", entryId: null, text: "" });
    expect(lane.observed.at(-1)).toMatchObject({ kind: "turn", state: "ended", outcome: "stopped" });
    expect(outline(await entriesOf(on.sessions)).at(-1)).toBe("user");
    expect(await on.run(lane, [say("Hello!")])).toMatchObject({ kind: "replied" });
  });

  test("an item whose session was replaced meanwhile is refused, not begun twice", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    lane.item = { ...lane.item, start: { sessionId: "before", leaf: null } };
    await expect(on.run(lane, [say("no")])).rejects.toMatchObject({ code: "session_moved" });
  });
});

describe("branches", () => {
  test("a person who goes elsewhere meanwhile stays there; the answer goes under its question", async () => {
    await using on = await stage();
    await on.run(laneOf("one", "k1"), [say("1")]);
    const before = await entriesOf(on.sessions);
    const chosen = before.findLast((entry) => entry.type === "thinking_level_change")?.id ?? "";
    const lane = laneOf("two", "k2");
    const move = async () => {
      await using session = await on.sessions.open(KEY);
      await session.branch(chosen);
      return act("write", WRITE);
    };
    expect(await on.run(lane, [move, say("2")])).toMatchObject({ kind: "replied", text: "2" });
    await using session = await on.sessions.open(KEY);
    expect(session.path().some((entry) => entry.type === "message")).toBe(false);
    const entries = await session.since(null);
    const question = entries.find((entry) => entry.type === "message" && messageOf(entry).key === "k2");
    const answers = entries.filter((entry) => entry.answers?.includes(question?.id ?? "") ?? false);
    expect(answers.map((entry) => outline([entry])[0])).toEqual(["calls", "answer"]);
    expect(answers[0]).toMatchObject({ parentId: question?.id, returnTo: expect.any(String) });
    expect(resultsOf(entries)).toHaveLength(1);
  });

  test("a label set meanwhile is no branch", async () => {
    await using on = await stage();
    const lane = laneOf("one");
    const label = async () => {
      await using session = await on.sessions.open(KEY);
      await session.append({ type: "label", targetId: session.leaf(), label: "here" });
      return say("1");
    };
    await on.run(lane, [label]);
    const entries = await entriesOf(on.sessions);
    expect(outline(entries).slice(-3)).toEqual(["user", "label", "answer"]);
    expect(entries.at(-1)).toMatchObject({ parentId: entries.at(-2)?.id });
    expect(entries.at(-1)?.returnTo).toBeUndefined();
  });
});

test("what another process wrote before this one got the right is taken in", async () => {
  await using space = await temporaryWorkspace();
  const world = realWorld(() => {});
  const directory = join(space.root, "sessions");
  await using here = await openSessions({ directory }, world);
  await using kept = await here.open(KEY);
  const lane = laneOf("hi");
  const parts = { world, lane, root: space.root, workspace: space.path };
  await using there = await openSessions({ directory }, world);
  const first = await agentOf({ ...parts, sessions: there, model: scriptedModel([say("Hello!")]) });
  await turn(lane.item, first, new AbortController().signal);
  const second = await agentOf({ ...parts, sessions: here, model: scriptedModel([]) });
  expect(await turn(lane.item, second, new AbortController().signal)).toMatchObject({
    kind: "replied",
    text: "Hello!",
  });
  expect(outline(await kept.since(null)).filter((word) => word === "user")).toHaveLength(1);
});
