/** Turns that go round in circles end with a word; work that gets something new goes on. */
import { expect, test } from "vitest";
import { act, say, scriptedModel } from "../src/model/scripted.ts";
import type { Tool } from "../src/types.ts";
import { entriesOf, laneOf, outline, resultsOf } from "./support/agent.ts";
import { stage } from "./support/stage.ts";

function tool(name: string, run: Tool["run"], effect: Tool["effect"] = "none"): [string, Tool] {
  const spec = { name, description: name, parameters: { type: "object" } };
  return [name, { spec, effect, check: () => null, run }];
}

async function turnWith(tools: readonly [string, Tool][], steps: (at: number) => ReturnType<typeof act>) {
  await using on = await stage();
  const lane = laneOf("go");
  const model = scriptedModel(Array.from({ length: 60 }, (_, at) => steps(at)));
  const outcome = await on.run(lane, [], { model, tools: new Map(tools) });
  const entries = await entriesOf(on.sessions);
  return { outcome, lane, asked: model.requests.length, results: resultsOf(entries), last: outline(entries).at(-1) };
}

test("the same call with the same result: held back after six, and after three of those the turn ends visibly", async () => {
  let ran = 0;
  const { outcome, lane, asked, results, last } = await turnWith(
    [
      tool(
        "ring",
        async () => {
          ran += 1;
          return { ok: true, text: "nothing" };
        },
        "opaque",
      ),
    ],
    () => act("ring", { b: 1, a: [2] }),
  );
  expect([ran, asked, last]).toEqual([6, 9, "failure"]);
  expect(outcome).toMatchObject({ kind: "stopped", code: "turn_loop" });
  expect(lane.finished).toMatchObject([{ text: expect.stringContaining("again and again") }]);
  expect(JSON.stringify(results[6])).toContain("6 times");
});

test("two calls in turn are a circle, too; arguments in another order are the same", async () => {
  let ran = 0;
  const nothing = tool("look", async () => {
    ran += 1;
    return { ok: true, text: "nothing" };
  });
  const { outcome } = await turnWith([nothing], (at) =>
    at % 2 === 0 ? act("look", { x: 1, y: 2 }) : act("look", at % 4 === 1 ? { y: 3, x: 1 } : { x: 1, y: 3 }),
  );
  expect([outcome.kind, ran]).toEqual(["stopped", 12]);
});

test("a tool that fails in one way whatever it is asked", async () => {
  let ran = 0;
  const { outcome, results } = await turnWith(
    [
      tool("fetch", async () => {
        ran += 1;
        throw new Error("no network");
      }),
    ],
    (at) => act("fetch", { page: at }),
  );
  expect([ran, outcome]).toEqual([8, expect.objectContaining({ code: "turn_loop" })]);
  expect(JSON.stringify(results[8])).toContain("failed in the same way");
});

test("a name that no tool has", async () => {
  const { outcome, asked } = await turnWith([], (at) => act("nobody", { n: at }));
  expect([outcome, asked]).toEqual([expect.objectContaining({ code: "turn_loop" }), 11]);
});

test("waiting for something is no circle while it changes, and neither are many different calls", async () => {
  await using on = await stage();
  let polls = 0;
  const poll = tool("poll", async () => {
    polls += 1;
    return { ok: true, text: `${polls} % done` };
  });
  const script = [...Array.from({ length: 20 }, () => act("poll", {})), say("done")];
  expect(await on.run(laneOf("go"), script, { tools: new Map([poll]) })).toMatchObject({ kind: "replied" });
  expect(polls).toBe(20);
});
