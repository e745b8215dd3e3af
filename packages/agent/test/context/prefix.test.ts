/** What providers cache of a prompt ends where it changes: requests as they go over the wire, each against the one before. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { realWorld } from "@holdfast/base";
import { memorySessions, type Sessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { keptInMemory } from "../../src/context/bootstrap/kept.ts";
import { defaultBootstrap } from "../../src/context/bootstrap/settings.ts";
import { inEnvelopes } from "../../src/context/envelope.ts";
import { mend } from "../../src/context/hygiene/hygiene.ts";
import { piaiModel } from "../../src/model/piai/model.ts";
import { builtinTools } from "../../src/tools/builtin.ts";
import { turn } from "../../src/turn.ts";
import { agentOf, KEY, laneOf } from "../support/agent.ts";
import { calls, type Reply, startOpenAiServer, streams } from "../support/openai-server.ts";
import { temporaryWorkspace } from "../support/workspace.ts";

const TURNS = 50;
const NOTES = (day: string): string => `memory/${day}.md`;

/** In each turn: a note of the day, a look at a file, an answer; sometimes two calls at once. */
function replyTo(index: number, day: string): Reply {
  const at = Math.floor(index / 3);
  const call = (name: string, args: object) => ({ id: `call_${name}`, name, pieces: [JSON.stringify(args)] });
  if (index % 3 === 2) return streams([`Answer ${at}.`]);
  if (index % 3 === 1) return calls(call("read", { path: "todo.md" }));
  const note = call("append", { path: NOTES(day), content: `- ${at}\n` });
  return at % 5 === 0 ? calls(note, call("write", { path: "todo.md", content: `- [ ] ${at}` })) : calls(note);
}

/** What a provider reads in its order: tools, then the messages one after the other. */
function bytesOf({ tools, messages }: { readonly tools: unknown; readonly messages: readonly unknown[] }): string {
  return [JSON.stringify(tools), ...messages.map((message) => JSON.stringify(message))].join("\n");
}

test(`${TURNS} turns with tools that write notes: every request begins with the whole one before`, async () => {
  const real = realWorld(() => {});
  const clock = { ms: Date.parse("2026-06-22T03:00:00Z") };
  const world = { ...real, nowMs: () => clock.ms };
  const day = "2026-06-22";
  await using server = await startOpenAiServer((_seen, index) => replyTo(index, day));
  await using space = await temporaryWorkspace({ world });
  const files = { "AGENTS.md": "Rules.", "MEMORY.md": "Facts.", [NOTES("2026-06-21")]: "Yesterday.", "todo.md": "x" };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(space.inside(name)), { recursive: true });
    await writeFile(join(space.path, name), text);
  }
  const place = { provider: "local", model: "m", baseUrl: server.url, apiKey: "k", api: "openai-completions" } as const;
  const model = piaiModel({ ...place, world, catalog: null, contextWindow: 200_000, maxTokens: null });
  await using sessions = memorySessions(world);
  const settings = { ...defaultBootstrap(), timezone: "UTC" };
  const bootstrap = { settings, kept: keptInMemory() };
  for (let at = 0; at < TURNS; at++) {
    clock.ms += 61_000;
    const lane = laneOf(`question ${at}`, `web:local:me:${at}`);
    lane.item = { ...lane.item, message: { ...lane.item.message, receivedMs: clock.ms } };
    const parts = {
      sessions,
      model,
      world,
      lane,
      root: space.root,
      workspace: space.path,
      tools: builtinTools(),
      bootstrap,
    };
    const outcome = await turn(lane.item, await agentOf(parts), new AbortController().signal);
    expect(outcome).toMatchObject({ kind: "replied", text: `Answer ${at}.` });
  }
  const sent = server.requests.map(({ body }) => bytesOf(body));
  expect(sent).toHaveLength(3 * TURNS);
  const broken = sent.flatMap((bytes, at) => (at === 0 || bytes.startsWith(sent[at - 1]!) ? [] : [at]));
  expect(broken).toEqual([]);
  expect(sent[0]).toContain("Yesterday.");
  expect(sent[0]).toContain("[Mon 2026-06-22");
  expect(await brokenByForm(sessions)).toEqual([]);
});

const APIS = ["openai-responses", "anthropic-messages", "google-generative-ai", "mistral-conversations", "unknown"];

/** The end of the same conversation in the form of other providers: which requests do not begin with the one before. */
async function brokenByForm(sessions: Sessions): Promise<readonly string[]> {
  await using session = await sessions.open(KEY);
  const leaves = (await session.since(null)).flatMap(({ seen }) => (seen === undefined ? [] : [seen])).slice(-8);
  const contexts = await Promise.all(leaves.map((leaf) => session.context({ leaf })));
  return APIS.flatMap((api) => {
    const target = { provider: "p", model: "m", api };
    const sent = contexts.map(({ messages }) =>
      bytesOf({ tools: [], messages: mend(inEnvelopes(messages), target).messages }),
    );
    return sent.flatMap((bytes, at) => (at === 0 || bytes.startsWith(sent[at - 1]!) ? [] : [`${api} ${leaves[at]}`]));
  });
}
