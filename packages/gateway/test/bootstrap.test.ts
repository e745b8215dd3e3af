/** Settings of workspace files in the prompt, and that a gateway follows them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { act, say, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { machineTimezone } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { bootstrapOf, timezoneOf } from "../src/bootstrap.ts";
import { configOf, startGateway } from "./support/gateway.ts";

test("what the configuration says, by agent", () => {
  const config = configOf(`{
    agents: { defaults: { timezone: "Asia/Shanghai", bootstrapMaxChars: 100 }, list: [{ id: "a" }, { id: "b", contextInjection: "never", bootstrapTotalMaxChars: 300 }] },
    memory: { inject: "always", injectDailyNotes: 3 } }`);
  const [a, b] = config.agents.list.map((agent) => bootstrapOf(agent, config, realWorld()).settings);
  const memory = { scope: "always", days: 3 };
  expect(a).toEqual({
    injection: "always",
    limits: { maxChars: 100, totalMaxChars: 60_000 },
    memory,
    timezone: "Asia/Shanghai",
  });
  expect(b).toMatchObject({ injection: "never", limits: { maxChars: 100, totalMaxChars: 300 } });
});

test("the time zone: the agent's, the reset's, the machine's; one that is none is refused", () => {
  const zone = (text: string): string => {
    const config = configOf(text);
    return timezoneOf(config.agents.list[0]!, config);
  };
  expect(zone('{ agents: { defaults: { timezone: "Asia/Tokyo" } }, sessions: { reset: { timezone: "UTC" } } }')).toBe(
    "Asia/Tokyo",
  );
  expect(zone('{ sessions: { reset: { timezone: "Europe/Berlin" } } }')).toBe("Europe/Berlin");
  expect(zone('{ sessions: { reset: { timezone: "Mars/Base" } } }')).toBe(machineTimezone());
  expect(zone("{}")).toBe(machineTimezone());
  expect(() => configOf('{ agents: { defaults: { timezone: "Mars/Base" } } }')).toThrow(/IANA/);
});

const KEY = "agent:main:main";

test("a new home: the model is led through the set-up, until it has written down who is who", async () => {
  const model = scriptedModel([
    say("Who are you?"),
    act("write", { path: "USER.md", content: "Ana" }, { tool: "delete", args: { path: "BOOTSTRAP.md" } }),
    say("Noted."),
    say("Hello Ana."),
  ]);
  const { gateway, home } = await startGateway({
    model,
    config: '{ agents: { defaults: { timezone: "Asia/Tokyo" } } }',
  });
  for (const text of ["hello", "I am Ana", "hello again"]) await gateway.send(KEY, text);
  const shown = model.requests.map(({ system }) => system.match(/^# (?:BOOTSTRAP\.md|USER\.md)$/gm));
  expect(shown).toEqual([
    ["# USER.md", "# BOOTSTRAP.md"],
    ["# USER.md", "# BOOTSTRAP.md"],
    ["# USER.md", "# BOOTSTRAP.md"],
    ["# USER.md"],
  ]);
  expect(model.requests.at(-1)!.system).toContain("# USER.md\nAna");
  expect(model.requests.at(-1)!.messages.at(-1)!.content).toEqual([
    { type: "text", text: expect.stringMatching(/^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d \+09:00\]$/) },
    { type: "text", text: "hello again" },
  ]);
  expect(readFileSync(join(home, "workspace", "USER.md"), "utf8")).toBe("Ana");
});

test("a file that is edited by hand is seen by the next message, with no restart", async () => {
  const model = scriptedModel(() => say("ok"));
  const { gateway, home } = await startGateway({ model });
  await gateway.send(KEY, "a");
  writeFileSync(join(home, "workspace", "AGENTS.md"), "Speak Dutch.");
  await gateway.send(KEY, "b");
  expect(model.requests.map(({ system }) => system.includes("Speak Dutch."))).toEqual([false, true]);
});

test("that a file does not fit is told once, also after a restart, where the answer goes", async () => {
  const model = scriptedModel(() => say("ok"));
  const config = "{ agents: { defaults: { bootstrapMaxChars: 500 } } }";
  const { gateway, home } = await startGateway({ model, config });
  await gateway.send(KEY, "a");
  await gateway.stop();
  const again = await startGateway({ home, model, config });
  await again.gateway.send(KEY, "b");
  await again.gateway.stop();
  const directory = join(home, "agents", "main", "sessions");
  const transcript = readdirSync(directory).find((name) => name.endsWith(".jsonl") && !name.includes("journal"));
  const lines = readFileSync(join(directory, transcript!), "utf8").split("\n");
  expect(lines.filter((line) => line.includes("holdfast:notice"))).toHaveLength(1);
  using lanes = new DatabaseSync(join(home, "lanes.sqlite"));
  const told = lanes.prepare("SELECT body, state FROM items WHERE lane = 'out' AND key LIKE 'told:%'").all();
  expect(told).toMatchObject([{ body: expect.stringContaining("bootstrapMaxChars (now 500)"), state: "done" }]);
});
