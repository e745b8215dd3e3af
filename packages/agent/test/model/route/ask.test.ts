/** A turn over several models: one answer in the transcript, what failed on record beside it. */
import { expect, test } from "vitest";
import { Rests } from "../../../src/model/route/rests.ts";
import { routedModel } from "../../../src/model/route/routed.ts";
import { act, failed, say, scriptedModel, type ScriptedStep } from "../../../src/model/scripted.ts";
import { dataOf, entriesOf, laneOf, outline } from "../../support/agent.ts";
import { collect, request, user } from "../../support/requests.ts";
import { stage } from "../../support/stage.ts";

async function routedStage(...scripts: readonly (readonly ScriptedStep[])[]) {
  const on = await stage();
  const models = scripts.map((script, index) => ({ ...scriptedModel(script), name: `p${index + 1}/m` }));
  const candidates = models.map((asks, index) => ({ provider: `p${index + 1}`, model: "m", credential: "k", asks }));
  const model = routedModel(candidates, { rests: new Rests(on.world), world: on.world });
  return { on, model, models };
}

test("the second model answers when the first fails: one answer, and the failure beside it", async () => {
  const { on, model, models } = await routedStage(
    [failed("auth", { message: "no such key" })],
    [say("from the second")],
  );
  await using _on = on;
  const lane = laneOf("hi");
  await on.run(lane, [], { model });
  const entries = await entriesOf(on.sessions);
  expect(outline(entries).filter((one) => one === "answer")).toHaveLength(1);
  expect(dataOf(entries, "attempt")).toMatchObject([{ code: "auth", message: "no such key" }]);
  expect(entries.at(-1)).toMatchObject({ message: { provider: expect.any(String), stopReason: "stop" } });
  expect(lane.finished).toMatchObject([{ text: "from the second" }]);
  expect(models.map(({ requests }) => requests.length)).toEqual([1, 1]);
});

test("it goes on with the second model while the first rests, through a call of a tool", async () => {
  const { on, model, models } = await routedStage(
    [failed("billing", { message: "no money" })],
    [act("read", { path: "x" }), say("done")],
  );
  await using _on = on;
  await on.run(laneOf("hi"), [], { model });
  expect(models.map(({ requests }) => requests.length)).toEqual([1, 2]);
});

test("all fail: the sender hears of the last one, once, and nothing is doubled", async () => {
  const { on, model } = await routedStage(
    [failed("auth", { message: "no such key" })],
    [failed("billing", { message: "no money" })],
  );
  await using _on = on;
  const lane = laneOf("hi");
  await on.run(lane, [], { model });
  expect(lane.finished).toMatchObject([{ text: expect.stringContaining("no money") }]);
  expect(dataOf(await entriesOf(on.sessions), "attempt").filter(({ code }) => code === "auth")).toHaveLength(1);
});

test("asked directly it gives the first answer there is, or the last failure", async () => {
  const { on, model } = await routedStage(
    [failed("overloaded", { message: "busy" }), failed("auth", { message: "no" })],
    [say("two"), failed("auth", { message: "no" })],
  );
  await using _on = on;
  expect((await collect(model, request([user("hi")]))).text).toBe("two");
  expect((await collect(model, request([user("hi")]))).answer).toMatchObject({
    stop: "failed",
    failure: { code: "auth" },
  });
});
