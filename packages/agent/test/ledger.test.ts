/** The ledger of a session, and a person's verdict. */
import { expect, onTestFinished, test } from "vitest";
import { join } from "node:path";
import { diskFolders } from "../src/actions/folder.ts";
import { ledgerOf, settleByPerson } from "../src/ledger.ts";
import { act, say, scriptedModel } from "../src/model/scripted.ts";
import type { Tool } from "../src/types.ts";
import { KEY, laneOf } from "./support/agent.ts";
import { type Stage, stage } from "./support/stage.ts";

const fax: Tool = {
  spec: { name: "fax", description: "Send a fax", parameters: { type: "object" } },
  effect: "opaque",
  check: () => null,
  run: async () => ({ ok: true, text: "sent" }),
};
const tools = new Map([["fax", fax]]);

const placesOf = (on: Stage) => ({ folders: diskFolders(join(on.root, "actions")), world: on.world });

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
    expect(await settleByPerson(session, { key, happened: true, by: "anna" }, placesOf(on))).toMatchObject({
      kind: "open",
    });
  }
  await on.run(lane, [say("I do not know.")], { tools });
  await using session = await on.sessions.open(KEY);
  const [action] = await ledgerOf(session);
  expect(action).toMatchObject({ state: "unknown", by: "probe", result: expect.stringContaining("[Recovered]") });
  const settled = await settleByPerson(
    session,
    {
      key: action!.key.slice(0, 10),
      happened: true,
      by: "anna",
      note: "It lies on the desk.",
    },
    placesOf(on),
  );
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
    expect(await settleByPerson(session, { key, happened: true, by: "anna" }, placesOf(on))).toEqual({ kind: "none" });
});

test("a business act that nobody could tell may be done again once a person found it was not done", async () => {
  const on = await stage();
  onTestFinished(() => on[Symbol.asyncDispose]());
  let sent = 0;
  const once: Tool = { ...fax, identity: () => "the fax", run: async () => ({ ok: true, text: `sent ${++sent}` }) };
  const named = new Map([["fax", once]]);
  const lane = laneOf("fax it", "k1");
  await on.crash(lane, [act("fax", { to: "1" })], "effect:before:fax", { tools: named });
  await on.run(lane, [say("I do not know.")], { tools: named });
  await on.run(laneOf("again", "k2"), [act("fax", { to: "1" }), say("Still not.")], { tools: named });
  expect(sent).toBe(0);
  {
    await using session = await on.sessions.open(KEY);
    const [action] = await ledgerOf(session);
    const verdict = { key: action!.key, happened: false, by: "anna" };
    expect(await settleByPerson(session, verdict, placesOf(on))).toMatchObject({ kind: "settled" });
  }
  await on.run(laneOf("and now", "k3"), [act("fax", { to: "1" }), say("Sent.")], { tools: named });
  expect(sent).toBe(1);
});
