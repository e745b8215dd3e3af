/** What a request is made of, as its builder tells it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BootstrapSettings, defaultBootstrap } from "../../src/context/bootstrap/settings.ts";
import type { RequestFacts } from "../../src/context/report/types.ts";
import { say, scriptedModel } from "../../src/model/scripted.ts";
import { builtinTools } from "../../src/tools/builtin.ts";
import { turn } from "../../src/turn.ts";
import { agentOf, laneOf } from "../support/agent.ts";
import { stage } from "../support/stage.ts";

/** Two messages, each answered; what was told about their requests. */
async function toldOf(settings: Partial<BootstrapSettings>): Promise<readonly RequestFacts[]> {
  await using place = await stage();
  await writeFile(join(place.path, "AGENTS.md"), "Rule one.");
  const told: RequestFacts[] = [];
  for (const text of ["first", "second"]) {
    const lane = laneOf(text, `web:local:me:${text}`);
    const { sessions, world, root, path: workspace } = place;
    const tools = new Map([...builtinTools()].toReversed());
    const model = scriptedModel([say("ok")]);
    const bootstrap = { settings: { ...defaultBootstrap(), ...settings } };
    const agent = await agentOf({ sessions, world, root, workspace, tools, model, lane, bootstrap });
    const requests = { record: async (_place: unknown, facts: RequestFacts) => void told.push(facts) };
    await turn(lane.item, { ...agent, requests }, new AbortController().signal);
  }
  return told;
}

test("sections make the system prompt, files and limits are named, tools stand by name", async () => {
  const [facts] = await toldOf({});
  const { request, sections, files, limits, leftOut } = facts!;
  expect(sections.map(({ text }) => text).join("\n\n")).toBe(request.system);
  expect(files).toMatchObject([{ name: "AGENTS.md", bytes: 9, chars: 9, cut: null }]);
  expect(limits).toMatchObject({ bootstrapMaxChars: 20_000, bootstrapTotalMaxChars: 60_000 });
  expect(leftOut.filter(({ why }) => why.startsWith("workspace"))).toEqual([]);
  const names = request.tools.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
});

test.each([
  ["continuation-skip", [[], ["workspace_skipped"]]],
  ["never", [["workspace_never"], ["workspace_never"]]],
] as const)("%s is said where the files are left out", async (injection, whys) => {
  const told = await toldOf({ injection });
  const left = told.map(({ leftOut }) => leftOut.map(({ why }) => why).filter((why) => why.startsWith("workspace")));
  expect(left).toEqual(whys);
});
