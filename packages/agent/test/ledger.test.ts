/** The ledger of a session, and a person's verdict. */
import { expect, onTestFinished, test } from "vitest";
import { ledgerOf, settleByPerson } from "../src/ledger.ts";
import { act, say, scriptedModel } from "../src/model/scripted.ts";
import type { Tool } from "../src/types.ts";
import { KEY, laneOf } from "./support/agent.ts";
import { stage } from "./support/stage.ts";

const fax: Tool = {
  spec: { name: "fax", description: "Send a fax", parameters: { type: "object" } },
  effect: "opaque",
  check: () => null,
  run: async () => ({ ok: true, text: "sent" }),
};
const tools = new Map([["fax", fax]]);

async function cutOff() {
  const on = await stage();
  onTestFinished(() => on[Symbol.asyncDispose]());
  const lane = laneOf("fax it", "k1");
  await on.crash(lane, [act("fax", { to: "1" })], "effect:after:fax", { tools });
  return { on, lane };
}

test("open, then unknown, then as the person says; the model is told, the result stays", async () => {
  const { on, lane } = await cutOff();
  {
    await using session = await on.sessions.open(KEY);
    expect(await ledgerOf(session)).toMatchObject([
      { tool: "fax", args: { to: "1" }, state: "open", attempts: 1, result: null },
    ]);
    const [{ key } = { key: "" }] = await ledgerOf(session);
    expect(await settleByPerson(session, { key, happened: true, by: "anna" })).toMatchObject({ kind: "open" });
  }
  await on.run(lane, [say("I do not know.")], { tools });
  await using session = await on.sessions.open(KEY);
  const [action] = await ledgerOf(session);
  expect(action).toMatchObject({ state: "unknown", by: "probe", result: expect.stringContaining("[Recovered]") });
  const settled = await settleByPerson(session, {
    key: action!.key.slice(0, 10),
    happened: true,
    by: "anna",
    note: "It lies on the desk.",
  });
  expect(settled).toMatchObject({ kind: "settled", action: { state: "happened" } });
  expect(await ledgerOf(session)).toMatchObject([
    { state: "happened", by: "anna", evidence: { person: "anna" }, result: action!.result },
  ]);
  const model = scriptedModel([say("Good.")]);
  await on.run(laneOf("and?", "k2"), [], { model, tools });
  expect(JSON.stringify(model.requests[0]?.messages)).toContain("anna looked, and it did happen. It lies on the desk.");
});

test("an unknown name settles nothing; an ordinary result is done", async () => {
  const on = await stage();
  onTestFinished(() => on[Symbol.asyncDispose]());
  await on.run(laneOf("fax", "k1"), [act("fax", { to: "1" }), say("Sent.")], { tools });
  await using session = await on.sessions.open(KEY);
  expect(await ledgerOf(session)).toMatchObject([{ state: "done", by: null, result: "sent" }]);
  for (const key of ["", "zz"])
    expect(await settleByPerson(session, { key, happened: true, by: "anna" })).toEqual({ kind: "none" });
});
