/** Turns over a real connection to a server that refuses what a provider would refuse. */
import { Rests } from "../../../src/model/route/rests.ts";
import { routedModel } from "../../../src/model/route/routed.ts";
import { openModel } from "../../../src/model/open.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EntryMessage, type NewEntry, openSessions, type Sessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import type { Model } from "../../../src/types.ts";
import { KEY, laneOf } from "../../support/agent.ts";
import {
  type OpenAiServer,
  type Reply,
  type SeenRequest,
  refuses,
  startOpenAiServer,
  streams,
} from "../../support/openai-server.ts";
import { type Stage, stage } from "../../support/stage.ts";
import { PNG } from "../../support/transcripts.ts";
import { chatOrder, problemsOf } from "../../support/validators.ts";

type Fields = Readonly<Record<string, unknown>>;
const message = (fields: Fields): NewEntry => ({ type: "message", message: fields as EntryMessage });
const user = (content: unknown) => message({ role: "user", content, timestamp: 1 });
const answer = (content: readonly Fields[], more: Fields = {}) => message({ role: "assistant", content, ...more });
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { path: "a" } });
const result = (id: string) =>
  message({
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [{ type: "text", text: `of ${id}` }],
    isError: false,
  });

/** All that goes wrong in one history. */
const BROKEN: readonly NewEntry[] = [
  answer([{ type: "text", text: "it begins with an answer" }]),
  result("orphan"),
  user("go"),
  answer([{ type: "thinking", thinking: "hm" }, call("c|fc_1"), call("c|fc_1"), call("x".repeat(90))], {
    provider: "other",
    model: "m",
    api: "openai-responses",
  }),
  user("still there?"),
  result("c|fc_1"),
  answer([{ type: "text", text: "half" }, call("cut")], { stopReason: "aborted" }),
  answer([call("bad")], { stopReason: "error", errorMessage: "overloaded" }),
  answer([]),
  user([
    { type: "image", data: PNG, mimeType: "image/jpg" },
    { type: "text", text: " " },
  ]),
  user("nul \0 and half \ud83d"),
];

/** Another program's transcript under our key. */
async function withHistory(on: Stage, entries: readonly NewEntry[]): Promise<Sessions> {
  const directory = join(on.root, "sessions");
  await mkdir(directory, { recursive: true });
  const timestamp = "2026-06-21T13:01:34.832Z";
  const header = { type: "session", version: 3, id: "other", timestamp, cwd: "/" };
  const lines = entries.map((entry, at) => ({
    ...entry,
    id: `e${at}`,
    parentId: at === 0 ? null : `e${at - 1}`,
    timestamp,
  }));
  await writeFile(
    join(directory, "other.jsonl"),
    [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  await writeFile(
    join(directory, "sessions.json"),
    JSON.stringify({ [KEY]: { sessionId: "other", sessionFile: "other.jsonl" } }),
  );
  return openSessions({ directory }, on.world);
}

/** Like a provider: what is malformed gets 400, and what is not is answered. */
function strict(problems: (seen: SeenRequest) => readonly string[]): (seen: SeenRequest) => Reply {
  return (seen) => {
    const found = problems(seen);
    return found.length === 0
      ? streams(["fine"])
      : refuses(400, { message: found.join("; "), type: "invalid_request_error" });
  };
}

function modelAt(server: OpenAiServer, world: Stage["world"], choice: string): Model {
  const provider = choice.split("/", 1)[0] ?? "";
  return openModel({
    choice,
    providers: { [provider]: { baseUrl: server.url, apiKey: "sk-secret-key" } },
    apiKeyOf: () => null,
    world,
  });
}

test.each([
  ["local/qwen3", (seen: SeenRequest) => problemsOf(seen.body, "openai-completions")],
  [
    "vllm/Devstral-Small-2",
    (seen: SeenRequest) => [...problemsOf(seen.body, "openai-completions"), ...chatOrder(seen.body)],
  ],
] as const)("%s: a conversation with everything wrong in it is answered over the wire", async (choice, problems) => {
  await using on = await stage();
  await using server = await startOpenAiServer(strict(problems));
  await using sessions = await withHistory(on, BROKEN);
  const lane = laneOf("and now?");
  await on.run(lane, [], { sessions, model: modelAt(server, on.world, choice) });
  expect(lane.finished).toMatchObject([{ text: "fine" }]);
  const sent = JSON.stringify(server.requests[0]?.body);
  for (const said of ["it begins with an answer", "still there?", "of c|fc_1", "half", "and now?"])
    expect(sent).toContain(said);
  // Nobody said that these models see pictures.
  expect(sent).toContain("[image left out: this model takes none]");
  for (const gone of ["orphan", "cut", "bad", "hm"]) expect(sent).not.toContain(`"${gone}"`);
});

test("B037 a broken history is repaired or fails alone: nobody rests, no other model is asked, the next conversation is answered", async () => {
  await using on = await stage();
  const refusing = (seen: SeenRequest) => [
    ...problemsOf(seen.body, "openai-completions"),
    ...(JSON.stringify(seen.body).includes("poison") ? ["this one is refused whatever is done"] : []),
  ];
  await using server = await startOpenAiServer(strict(refusing));
  await using second = await startOpenAiServer(() => streams(["from the fallback"]));
  const [first, fallback] = [modelAt(server, on.world, "p/m"), modelAt(second, on.world, "q/m")];
  const rests = new Rests(on.world);
  const candidates = [
    { provider: "p", model: "m", credential: "k", asks: first },
    { provider: "q", model: "m", credential: "k", asks: fallback },
  ];
  const model = routedModel(candidates, { rests, world: on.world });
  await using sessions = await withHistory(on, BROKEN);
  const repaired = laneOf("to X");
  await on.run(repaired, [], { sessions, model });
  expect(repaired.finished).toMatchObject([{ text: "fine" }]);
  const poisoned = laneOf("poison", "web:local:me:2");
  await on.run(poisoned, [], { sessions, model });
  expect(poisoned.finished).toMatchObject([{ text: expect.stringContaining("this one is refused whatever is done") }]);
  const asked = server.requests.length;
  const other = laneOf("to Y", "web:local:me:3");
  other.item = { ...other.item, sessionKey: "agent:main:web:direct:y" };
  await on.run(other, [], { sessions, model });
  expect(other.finished).toMatchObject([{ text: "fine" }]);
  expect([server.requests.length - asked, second.requests.length]).toEqual([1, 0]);
});
