/** Compaction as a whole: what the summariser is shown, what is written, and what a summary that is none leads to. */
import { memorySessions, type NewEntry, type Session } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { compactByHand } from "../../../src/context/compaction/by-hand.ts";
import {
  type CompactionAsked,
  type CompactionSettings,
  compact,
  TRUNCATED,
} from "../../../src/context/compaction/compact.ts";
import { failed, say, type ScriptedStep, scriptedModel } from "../../../src/model/scripted.ts";
import { agentOf, KEY, laneOf } from "../../support/agent.ts";
import { steeredWorld } from "../../support/stage.ts";
import { temporaryWorkspace } from "../../support/workspace.ts";

const message = (role: string, said: string, more: object = {}): NewEntry => ({
  type: "message",
  message: { role, content: [{ type: "text", text: said }], ...more },
});
const LONG = "and so on ".repeat(60);
/** Ten questions with answers, some 300 tokens each. */
const TALK = Array.from({ length: 10 }, (_, at) => [
  message("user", `question ${at}: where is PROJ-${at}? ${LONG}`),
  message("assistant", `answer ${at}: in /srv/data/part-${at}/file.txt ${LONG}`),
]).flat();
const SETTINGS: CompactionSettings = {
  strategy: "summary",
  keepRecentTokens: 700,
  keepRecentMessages: null,
  instructions: null,
  reserveTokens: 1_000,
  auto: true,
};

interface Stand extends AsyncDisposable {
  readonly session: Session;
  run(
    script: readonly ScriptedStep[],
    asked?: Partial<CompactionAsked>,
    more?: { settings?: Partial<CompactionSettings>; window?: number },
  ): Promise<{
    readonly made: Awaited<ReturnType<typeof compact>>;
    readonly asked: readonly string[];
  }>;
  texts(): Promise<readonly string[]>;
}

async function stand(entries: readonly NewEntry[] = TALK): Promise<Stand> {
  const world = steeredWorld();
  const sessions = memorySessions(world);
  const session = await sessions.open(KEY);
  await session.append(entries);
  return {
    session,
    async run(script, asked = {}, { settings = {}, window } = {}) {
      const scripted = scriptedModel(script, { world });
      const model = window === undefined ? scripted : { ...scripted, contextWindow: async () => window };
      const claim = await session.claimTurn("me", 30_000);
      if (claim.kind === "held") throw new Error("held");
      const { signal } = new AbortController();
      const add = (entry: NewEntry) => session.append(entry, { right: claim.right });
      const work = { session, add, model, world, settings: { ...SETTINGS, ...settings }, signal };
      const made = await compact(work, { focus: null, reason: "manual", ...asked });
      await session.releaseTurn(claim.right);
      return { made, asked: scripted.requests.map(({ messages }) => String(messages[0]?.content)) };
    },
    async texts() {
      const { messages } = await session.context();
      return messages.map((one) => ("summary" in one ? String(one.summary) : JSON.stringify(one.content)));
    },
    async [Symbol.asyncDispose]() {
      await session.close();
      await sessions.close();
    },
  };
}

const GOOD = say("## Goals\nFind the projects.\n## Facts\nPROJ-0 to PROJ-7 were found.");

test("one entry stands for what was before, the newest part stays as it was, and the original is still there", async () => {
  await using on = await stand();
  const before = on.session.leaf() ?? "";
  const { made, asked } = await on.run([GOOD], { focus: "the paths" }, { settings: { instructions: "Be short." } });
  expect(made).toMatchObject({
    kind: "compacted",
    strategy: "summary",
    before: { messages: 20 },
    after: { messages: 5 },
    instead: null,
  });
  expect(asked[0]).toContain("[Person] question 0: where is PROJ-0?");
  expect(asked[0]).not.toContain("question 8");
  expect(asked[0]).toMatch(/Be short\.\n\nAbove all keep what concerns: the paths/);
  const [summary, ...tail] = await on.texts();
  expect(summary).toContain("Find the projects.");
  expect(tail.map((one) => /(?:question|answer) \d/.exec(one)?.[0])).toEqual([
    "question 8",
    "answer 8",
    "question 9",
    "answer 9",
  ]);
  const entry = on.session.path().at(-1);
  expect(entry).toMatchObject({
    type: "compaction",
    tokensBefore: made.kind === "compacted" ? made.before.tokens : 0,
    details: { strategy: "summary", originalCount: 16, reason: "manual" },
  });
  expect((await on.session.context({ leaf: before })).messages).toHaveLength(20);
});

test("identifiers that the summary does not name are added as they were", async () => {
  await using on = await stand();
  await on.run([say("They talked about projects.")]);
  const [summary] = await on.texts();
  for (const kept of ["PROJ-0", "PROJ-7", "/srv/data/part-3/file.txt"]) expect(summary).toContain(`- ${kept}`);
});

test("a summary of a summary is given the earlier one, and a second compaction counts from there", async () => {
  await using on = await stand();
  await on.run([GOOD]);
  await on.session.append(TALK);
  const { asked, made } = await on.run([say("All of it, anew.")]);
  expect(asked[0]).toMatch(/^<earlier-summary>\n## Goals\nFind the projects\./);
  expect(asked[0]).not.toMatch(/\[Summary\]/);
  expect(made).toMatchObject({ kind: "compacted", after: { messages: 5 } });
  expect((await on.texts()).filter((one) => one.includes("Find the projects"))).toEqual([]);
});

test.each([
  ["empty", say("   \n")],
  ["longer than what it stands for", say("word ".repeat(9_000))],
  ["a failure", failed("overloaded", { message: "too busy" })],
])(
  "B071 a summary that is %s replaces nothing by hand, and elsewhere the oldest part is left out without one",
  async (_name, step) => {
    await using on = await stand();
    const texts = await on.texts();
    const manual = await on.run([step]);
    expect(manual.made).toMatchObject({ kind: "failed", why: expect.any(String) });
    expect([await on.texts(), manual.asked.length]).toEqual([texts, 1]);
    const overflow = await on.run([step], { reason: "overflow" });
    expect(overflow.made).toMatchObject({ kind: "compacted", strategy: "truncate", instead: expect.any(String) });
    expect((await on.texts())[0]).toBe(TRUNCATED);
  },
);

test("what is larger than the summariser's window is done in stages, each with what the one before wrote", async () => {
  await using on = await stand();
  const { made, asked } = await on.run(
    Array.from({ length: 12 }, (_, at) => say(`stage ${at}`)),
    {},
    { window: 3_000 },
  );
  expect(made.kind).toBe("compacted");
  expect(asked.length).toBeGreaterThan(2);
  expect(asked[1]).toMatch(/^<earlier-summary>\nstage 0/);
  for (let at = 0; at < 8; at++)
    expect(asked.filter((one) => one.includes(`[Person] question ${at}:`))).toHaveLength(1);
  expect((await on.texts())[0]).toMatch(new RegExp(`^stage ${asked.length - 1}`));
});

test("truncate asks nobody; done again it says so once, and keeps a summary that was there", async () => {
  await using on = await stand();
  await on.run([GOOD]);
  for (let round = 0; round < 2; round++) {
    await on.session.append(TALK);
    expect((await on.run([], {}, { settings: { strategy: "truncate" } })).made).toMatchObject({
      strategy: "truncate",
      instead: null,
    });
  }
  const [summary] = await on.texts();
  expect(summary).toContain("Find the projects.");
  expect(summary?.split(TRUNCATED)).toHaveLength(2);
});

test("the newest question is repeated where its answer goes on behind the cut", async () => {
  const steps = Array.from({ length: 12 }, (_, at) => [
    message("assistant", "", {
      content: [{ type: "toolCall", id: `c${at}`, name: "read", arguments: { path: `${at}` } }],
    }),
    message("toolResult", LONG, { toolCallId: `c${at}`, toolName: "read", isError: false }),
  ]).flat();
  await using on = await stand([message("user", "第二项待办，能不能再拆细一点？"), ...steps]);
  const { made } = await on.run([say("They read files.")]);
  expect(made.kind).toBe("compacted");
  expect((await on.texts())[0]).toMatch(/## Being worked on\n\[Person\] 第二项待办，能不能再拆细一点？$/);
});

test("a short conversation is left as it is, and nobody is asked", async () => {
  await using on = await stand([message("user", "hello"), message("assistant", "hi")]);
  expect(await on.run([], {}, { settings: { keepRecentTokens: 20_000 } })).toEqual({
    made: { kind: "nothing" },
    asked: [],
  });
});

test("by hand: under a right of its own, which it gives back; told where somebody else has it, or a call is open", async () => {
  await using space = await temporaryWorkspace();
  const world = steeredWorld();
  const sessions = memorySessions(world);
  const model = scriptedModel([GOOD], { world });
  const lane = laneOf("x");
  const agent = {
    ...(await agentOf({ sessions, model, world, lane, root: space.root, workspace: space.path })),
    compaction: SETTINGS,
  };
  const by = { focus: null, signal: new AbortController().signal };
  await using session = await sessions.open(KEY);
  await session.append(TALK);
  const claim = await session.claimTurn("somebody", 30_000);
  expect(await compactByHand(agent, KEY, by)).toEqual({ kind: "busy" });
  if (claim.kind === "claimed") await session.releaseTurn(claim.right);
  expect(await compactByHand(agent, KEY, by)).toMatchObject({ kind: "compacted" });
  expect(lane.observed).toMatchObject([{ kind: "entries", entries: [{ type: "compaction" }] }]);
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} };
  await session.append([message("user", "go"), message("assistant", "", { content: [call] })]);
  expect(await compactByHand(agent, KEY, by)).toEqual({ kind: "calls_open" });
});
