/** What the models cost, on record and bounded; through a whole gateway, and over odd files. */
import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { act, type Model, say, scriptedModel, type ScriptedStep } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { dayAt, lineOf } from "../src/usage/line.ts";
import { readUsage, summed } from "../src/usage/read.ts";
import { temporaryHome } from "./support/home.ts";
import { startGateway } from "./support/gateway.ts";

const KEY = "agent:main:main";
const USAGE = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1_000, cost: { total: 0.25 } };

/** A scripted model whose answers have a price. */
function priced(script: readonly ScriptedStep[]): Model {
  const model = scriptedModel(script);
  return {
    name: "p/m",
    async ask(request, options) {
      const answer = await model.ask(request, options);
      return { ...answer, usage: USAGE, by: { provider: "p", model: "m", api: "none" } };
    },
  };
}

const spend = (limits: object) => JSON.stringify({ models: { spend: limits } });
const today = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

test("a line for each answer, 0600, without a word of it; added up by what is asked for", async () => {
  const model = priced([act("read", { path: "x" }), say("secret answer"), say("again")]);
  const { gateway, home } = await startGateway({ model });
  await gateway.send(KEY, "one");
  await gateway.send("agent:main:other", "two");
  await gateway.stop();
  const lines = await readUsage(home, { fromDay: today() });
  expect(lines).toHaveLength(3);
  const file = join(home, "usage", `${lines[0]!.day.slice(0, 7)}.jsonl`);
  expect([(await stat(file)).mode & 0o777, await readFile(file, "utf8")]).toEqual([
    0o600,
    expect.not.stringContaining("secret"),
  ]);
  expect(summed(lines, "session")).toMatchObject([
    { of: KEY, answers: 2, tokens: 2_000, cost: 0.5 },
    { of: "agent:main:other", answers: 1 },
  ]);
  expect(summed(lines, "model")).toMatchObject([{ of: "p/m", answers: 3, input: 2_700, output: 300 }]);
});

test.each([
  ["turn", { turn: { tokens: 1_500 } }, 2],
  ["agentDay", { agentDay: { cost: 0.5 } }, 2],
  ["day", { day: { tokens: 3_000 } }, 3],
])("a limit for %s: the message ends visibly before the next question", async (name, limits, questions) => {
  const script = Array.from({ length: 9 }, (_, at) => act("write", { path: `n${at}.txt`, content: "x" }));
  const model = priced(script);
  let asked = 0;
  const counting: Model = {
    name: model.name,
    ask(...given) {
      asked += 1;
      return model.ask(...given);
    },
  };
  const { gateway, home } = await startGateway({ model: counting, config: spend(limits) });
  const posted = await gateway.send(KEY, "go on and on");
  expect(posted).toMatchObject({ kind: "refused" });
  expect(JSON.stringify(posted)).toContain(`models.spend.${name}`);
  expect(asked).toBe(questions);
  await gateway.stop();
  if (name === "turn") return;
  // The day's sum outlives the gateway.
  const again = await startGateway({ home, model: counting, config: spend(limits) });
  expect(JSON.stringify(await again.gateway.send("agent:main:other", "hi"))).toContain("models.spend");
  expect(asked).toBe(questions);
});

test("days are the owner's; answers without numbers and entries of others count nothing", () => {
  const at = Date.UTC(2026, 11, 1, 17);
  expect([dayAt("UTC", at), dayAt("Asia/Shanghai", at)]).toEqual(["2026-12-01", "2026-12-02"]);
  const where = { agent: "main", sessionKey: KEY, timezone: () => "UTC", nowMs: at };
  const entry = (message: unknown) => ({ type: "message", id: "e", parentId: null, timestamp: "", message }) as never;
  expect(lineOf(entry({ role: "assistant", usage: USAGE, provider: "p", model: "m" }), where)).toMatchObject({
    tokens: 1_000,
  });
  for (const usage of [
    undefined,
    null,
    7,
    {},
    { totalTokens: 0 },
    { totalTokens: -5 },
    { totalTokens: "9" },
    { totalTokens: Number.NaN },
  ])
    expect(lineOf(entry({ role: "assistant", usage }), where)).toBeNull();
  expect(lineOf(entry({ role: "user", usage: USAGE }), where)).toBeNull();
});

test("a torn line, a line twice and a file that is not ours are passed over", async () => {
  const home = await temporaryHome();
  await mkdir(join(home, "usage"), { recursive: true });
  const day = dayAt("UTC", realWorld().nowMs());
  const line = JSON.stringify({
    at: 1,
    day,
    agent: "main",
    session: KEY,
    model: "p/m",
    tokens: 5,
    cost: "free",
    entry: "e1",
  });
  const file = join(home, "usage", `${day.slice(0, 7)}.jsonl`);
  await writeFile(file, `${line}\nnull\n{"day":7}\n${line}\n${line.slice(0, 30)}`);
  await appendFile(join(home, "usage", "notes.txt"), "mine");
  expect(await readUsage(home, { fromDay: today() })).toMatchObject([{ entry: "e1", tokens: 5, cost: 0, input: 0 }]);
});
