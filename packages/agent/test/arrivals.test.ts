/** What comes while a turn is at work: steering, stops, and calls that run beside each other. */
import { describe, expect, test } from "vitest";
import { AgentError } from "../src/errors.ts";
import { act, say, scriptedModel, stalled } from "../src/model/scripted.ts";
import type { Arrived, Joining, Tool } from "../src/types.ts";
import { entriesOf, type Lane, laneOf, messageOf, outline, resultsOf } from "./support/agent.ts";
import { stage } from "./support/stage.ts";

const NOTHING: Arrived = { stop: null, joined: [], steer: [], collect: [] };

function joining(text: string, key: string): Joining {
  const { item } = laneOf(text, key);
  return { id: item.id, message: item.message, start: null };
}

/** A tool whose work is the test's own. */
function tool(name: string, run: Tool["run"], more: Partial<Tool> = {}): [string, Tool] {
  const spec = { name, description: name, parameters: { type: "object" } };
  return [name, { spec, effect: "opaque", check: () => null, run, ...more }];
}

const texts = (entries: Awaited<ReturnType<typeof entriesOf>>): readonly string[] =>
  entries.flatMap((entry) => {
    const message = entry.type === "message" ? messageOf(entry) : {};
    return message.role === "user" ? [String((message.content as readonly { text: string }[])[0]?.text)] : [];
  });

const arrive = (lane: Lane, more: Partial<Arrived>): void => {
  lane.arrived = { ...lane.arrived, ...more };
};

describe("steering", () => {
  test("a message that came during a call is heard after its result, before the next question; one answer for both", async () => {
    await using on = await stage();
    const lane = laneOf("帮我查下天气");
    const second = joining("还有明天的日程", "web:local:me:2");
    const slow = tool("look", async () => {
      arrive(lane, { steer: [second] });
      return { ok: true, text: "sunny" };
    });
    const model = scriptedModel([act("look"), say("Sunny, and a meeting at ten.")]);
    await on.run(lane, [], { model, tools: new Map([slow]) });
    const entries = await entriesOf(on.sessions);
    expect(outline(entries).slice(4)).toEqual(["user", "calls", "intent", "toolResult", "user", "answer"]);
    expect(texts(entries)).toEqual(["帮我查下天气", "还有明天的日程"]);
    const users = entries.filter((entry) => outline([entry])[0] === "user").map(({ id }) => id);
    expect(entries.at(-1)).toMatchObject({ answers: users });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
    expect([lane.finished.length, lane.joined]).toEqual([1, [second.id]]);
  });

  test("calls that were not begun are held back; the model reads the message first", async () => {
    await using on = await stage();
    const lane = laneOf("继续细化");
    let ran = 0;
    const work = tool("work", async () => {
      ran += 1;
      arrive(lane, { steer: [joining("先别改", "web:local:me:2")] });
      return { ok: true, text: "one done" };
    });
    await on.run(lane, [act("work", { n: 1 }, { tool: "work", args: { n: 2 } }), say("Stopped changing.")], {
      tools: new Map([work]),
    });
    expect(ran).toBe(1);
    expect(JSON.stringify(resultsOf(await entriesOf(on.sessions))[1])).toContain("a new message arrived");
  });

  test("a message that is durable before the effect starts holds it back, even after its intent", async () => {
    await using on = await stage();
    const lane = laneOf("do it");
    let ran = 0;
    const work = tool(
      "work",
      async () => {
        ran += 1;
        return { ok: true, text: "done" };
      },
      {
        effect: "checkable",
        prepare: async () => {
          arrive(lane, { stop: "person" });
          return {};
        },
      },
    );
    expect(await on.run(lane, [act("work")], { tools: new Map([work]) })).toMatchObject({ code: "stopped" });
    expect(ran).toBe(0);
    expect(outline(await entriesOf(on.sessions)).slice(4)).toEqual(["user", "calls", "intent", "toolResult", "answer"]);
  });

  test.each(["transcript", "join"])("killed after the %s, it is heard once and answered once", async (where) => {
    await using on = await stage();
    const lane = laneOf("one");
    const second = joining("two", "web:local:me:2");
    const look = tool("look", async () => {
      arrive(lane, { steer: [second] });
      return { ok: true, text: "seen" };
    });
    const tools = new Map([look]);
    const crash = where === "join" ? "action:after-record" : "model:before-ask";
    if (where === "join") arrive(lane, { joined: [second] });
    await on.crash(lane, [act("look"), say("never")], crash, { tools }).catch(() => undefined);
    on.world.crashAt = null;
    await on.run(lane, where === "join" ? [say("Both.")] : [act("look"), say("Both.")], { tools });
    expect(texts(await entriesOf(on.sessions)).toSorted()).toEqual(["one", "two"]);
    expect(lane.finished).toHaveLength(1);
  });

  test("messages that wait together are heard together", async () => {
    await using on = await stage();
    const lane = laneOf("one");
    arrive(lane, { collect: [joining("two", "k2"), joining("three", "k3")] });
    await on.run(lane, [say("All three.")]);
    expect(outline(await entriesOf(on.sessions)).slice(4)).toEqual(["user", "user", "user", "answer"]);
    expect(lane.joined).toHaveLength(2);
  });
});

describe("a stop", () => {
  const stopped = new AgentError("stopped", { session: "s" });

  test.each([
    ["stopped", { code: "stopped" }, ["calls", "intent", "toolResult", "toolResult", "answer"]],
    ["right_lost", { code: "stale_turn" }, ["calls", "intent", "toolResult"]],
  ] as const)(
    "%s, which only this process knows of any more: what has not begun is not begun",
    async (code, ended, log) => {
      await using on = await stage();
      const lane = laneOf("do both");
      const stop = new AbortController();
      let ran = 0;
      const work = tool("work", async () => {
        ran += 1;
        stop.abort(new AgentError(code, { session: "s" }));
        return { ok: true, text: "one done" };
      });
      const asked = [act("work", { n: 1 }, { tool: "work", args: { n: 2 } }), say("never")];
      const outcome = await on.run(lane, asked, { tools: new Map([work]), signal: stop.signal });
      expect(outcome).toMatchObject(ended);
      expect(ran).toBe(1);
      expect(outline(await entriesOf(on.sessions)).slice(5)).toEqual(log);
    },
  );

  test("in the middle of an answer: what was said is kept, nothing is sent", async () => {
    await using on = await stage();
    const lane = laneOf("tell me");
    const stop = new AbortController();
    const model = scriptedModel([stalled("Once upon")]);
    const ask = model.ask.bind(model);
    const watched = {
      ...model,
      ask: (...[request, options]: Parameters<typeof ask>) =>
        ask(request, {
          ...options,
          onDelta(delta) {
            options.onDelta(delta);
            arrive(lane, { stop: "person" });
            stop.abort(stopped);
          },
        }),
    };
    const outcome = await on.run(lane, [], { model: watched, signal: stop.signal });
    expect(outcome).toMatchObject({ kind: "stopped", code: "stopped" });
    const last = (await entriesOf(on.sessions)).at(-1);
    expect(messageOf(last)).toMatchObject({ stopReason: "aborted", content: [{ text: "Once upon" }] });
    expect([lane.finished, lane.ended]).toEqual([[], [last?.id]]);
    arrive(lane, NOTHING);
    expect(await on.run(lane, [])).toMatchObject({ kind: "stopped", code: "stopped", entryId: last?.id });
  });

  test("while a tool runs: its real result is kept, the calls behind it are closed", async () => {
    await using on = await stage();
    const lane = laneOf("work");
    const stop = new AbortController();
    const work = tool("work", async () => {
      arrive(lane, { stop: "person" });
      stop.abort(stopped);
      return { ok: true, text: "it was done" };
    });
    await on.run(lane, [act("work", { n: 1 }, { tool: "work", args: { n: 2 } })], {
      tools: new Map([work]),
      signal: stop.signal,
    });
    const results = resultsOf(await entriesOf(on.sessions)).map((result) => JSON.stringify(result.content));
    expect(results).toEqual([expect.stringContaining("it was done"), expect.stringContaining("stopped")]);
  });

  test("that comes when the answer is there already changes nothing: it is sent", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    await on.crash(lane, [say("Hello!")], "transcript:after-sync").catch(() => undefined);
    on.world.crashAt = null;
    await on.run(lane, [say("Hello!")]);
    arrive(lane, { stop: "person" });
    expect(await on.run(lane, [])).toMatchObject({ kind: "replied" });
  });

  test("by time is said to the sender", async () => {
    await using on = await stage();
    const lane = laneOf("hi");
    const late = AbortSignal.abort(new AgentError("timed_out", { session: "s", seconds: 5 }));
    expect(await on.run(lane, [say("never")], { signal: late })).toMatchObject({ code: "turn_timeout" });
    expect(lane.finished).toMatchObject([{ text: expect.stringContaining("longer than 5 s") }]);
  });
});

describe("calls beside each other", () => {
  test("run together where their tool allows it; results stand in the answer's order", async () => {
    await using on = await stage();
    const begun: string[] = [];
    const all = Promise.withResolvers<void>();
    const fetch = tool(
      "fetch",
      async (args) => {
        begun.push(String(args.n));
        if (begun.length === 3) all.resolve();
        await all.promise;
        // The last one ends first.
        for (let turns = 0; turns < 10 * (3 - Number(args.n)); turns++) await Promise.resolve();
        return { ok: true, text: `page ${args.n}` };
      },
      { effect: "none" },
    );
    const calls = [1, 2, 3].map((n) => ({ tool: "fetch", args: { n } }));
    await on.run(laneOf("read"), [act("fetch", { n: 1 }, ...calls.slice(1)), say("Read.")], {
      tools: new Map([fetch]),
    });
    const results = resultsOf(await entriesOf(on.sessions)).map((result) => JSON.stringify(result.content));
    expect(results.map((text) => /page \d/.exec(text)?.[0])).toEqual(["page 1", "page 2", "page 3"]);
  });

  test("what has an effect runs by itself", async () => {
    await using on = await stage();
    let running = 0;
    let most = 0;
    const work = tool("work", async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { ok: true, text: "done" };
    });
    const again = { tool: "work", args: { n: 2 } };
    await on.run(laneOf("work"), [act("work", { n: 1 }, again), say("Done.")], { tools: new Map([work]) });
    expect(most).toBe(1);
  });
});

test("a model that goes quiet in the middle is asked again", async () => {
  await using on = await stage();
  const lane = laneOf("hi");
  const running = on.run(lane, [stalled("Hel")], { modelIdleMs: 1 });
  const watch = setInterval(() => on.world.renew(), 1);
  const outcome = await running.finally(() => clearInterval(watch));
  expect(outcome).toMatchObject({ kind: "retry", failure: { code: "timeout" } });
});
