/** Room made before a question that would not fit, and after one that did not: in whole turns, with kills. */
import type { Entry, NewEntry } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { TRUNCATED } from "../../../src/context/compaction/compact.ts";
import { isFull } from "../../../src/context/compaction/room.ts";
import {
  act,
  failed,
  say,
  type ScriptedAnswer,
  type ScriptedStep,
  scriptedModel,
} from "../../../src/model/scripted.ts";
import type { Agent, Model, ModelRequest } from "../../../src/types.ts";
import { agentOf, entriesOf, KEY, type Lane, laneOf, outline } from "../../support/agent.ts";
import { type Stage, stage } from "../../support/stage.ts";
import { turn } from "../../../src/turn.ts";

const LONG = "and so on ".repeat(100);
const message = (role: string, said: string): NewEntry => ({
  type: "message",
  message: { role, content: [{ type: "text", text: said }] },
});
const TALK = Array.from({ length: 12 }, (_, at) => [
  message("user", `question ${at} ${LONG}`),
  message("assistant", `answer ${at} ${LONG}`),
]).flat();
const SETTINGS = {
  strategy: "summary",
  keepRecentTokens: 600,
  keepRecentMessages: null,
  instructions: null,
  reserveTokens: 1_000,
  auto: true,
} as const;
const OVERFLOW = failed("context_overflow", { message: "prompt is too long" });

const SAID = say("What was said.");

const isSummary = ({ system }: ModelRequest): boolean => system.startsWith("You write the memory");

interface More {
  readonly window?: number;
  readonly crashAt?: string;
  readonly lane?: Lane;
}

/** A turn in which summaries and questions are answered from scripts of their own; what was asked for, and what the sender was told. */
async function run(
  on: Stage,
  text: string,
  scripts: { readonly questions: readonly ScriptedStep[]; readonly summary?: ScriptedAnswer },
  more: More = {},
) {
  const lane = more.lane ?? laneOf(text, `web:local:me:${text}`);
  const left = [...scripts.questions];
  const scripted = scriptedModel(
    (request) => {
      const step = isSummary(request) ? scripts.summary : left.shift();
      if (step === undefined) throw new Error("nothing was to be asked");
      return typeof step === "function" ? step(request) : step;
    },
    { world: on.world },
  );
  const { window } = more;
  const model: Model = window === undefined ? scripted : { ...scripted, contextWindow: async () => window };
  const told: string[] = [];
  const parts = { sessions: on.sessions, model, world: on.world, lane, root: on.root, workspace: on.path };
  const agent: Agent = {
    ...(await agentOf(parts)),
    compaction: SETTINGS,
    async tell(_item, what) {
      told.push(what.text);
      return true;
    },
  };
  on.world.crashAt = more.crashAt ?? null;
  await turn(lane.item, agent, new AbortController().signal).catch((error: unknown) => {
    if (more.crashAt === undefined) throw error;
  });
  on.world.crashAt = null;
  const asked = scripted.requests.map((request) => (isSummary(request) ? "summary" : "question"));
  return {
    lane,
    told,
    asked: asked.filter((one, at) => one !== asked[at - 1] || one === "question"),
    requests: scripted.requests,
  };
}

async function stood(entries: readonly NewEntry[] = TALK): Promise<Stage> {
  const on = await stage();
  await using session = await on.sessions.open(KEY);
  await session.append(entries);
  return on;
}

const usersWith = (entries: readonly Entry[], text: string) =>
  entries.filter((entry) => JSON.stringify(entry).includes(text) && outline([entry])[0] === "user");

test("B075 an overflow: compacted, the same question again, one user entry, one answer", async () => {
  await using on = await stood();
  const { lane, asked } = await run(on, "the newest", { questions: [OVERFLOW, say("here you are")], summary: SAID });
  expect(asked).toEqual(["question", "summary", "question"]);
  expect(lane.finished).toMatchObject([{ text: "here you are" }]);
  const entries = await entriesOf(on.sessions);
  expect(usersWith(entries, "the newest")).toHaveLength(1);
  expect(outline(entries).slice(-3)).toEqual(["user", "compaction", "answer"]);
});

test("B075 overflows again and again: room is made twice, then it is said, and nothing is doubled", async () => {
  await using on = await stood();
  const { lane, asked } = await run(on, "the newest", { questions: [OVERFLOW, OVERFLOW, OVERFLOW], summary: SAID });
  expect(asked.filter((one) => one === "question").length).toBeLessThanOrEqual(3);
  expect(lane.finished).toMatchObject([{ text: expect.stringContaining("prompt is too long") }]);
  const entries = await entriesOf(on.sessions);
  expect(usersWith(entries, "the newest")).toHaveLength(1);
  expect(outline(entries).at(-1)).toBe("failure");
  const next = await run(on, "and now?", { questions: [say("better")] });
  expect(next.lane.finished).toMatchObject([{ text: "better" }]);
});

test("B067 what is fixed does not fit: a clear message, no loop, and nothing is written but that", async () => {
  await using on = await stage();
  const { lane, asked } = await run(on, "hello", { questions: [OVERFLOW] });
  expect(asked).toEqual(["question"]);
  expect(lane.finished).toMatchObject([{ text: expect.stringMatching(/prompt is too long[\s\S]*larger window/) }]);
  expect(outline(await entriesOf(on.sessions))).not.toContain("compaction");
});

test("before a question that would hardly fit: once, and not again for the next one", async () => {
  await using on = await stood();
  const first = await run(on, "the newest", { questions: [say("fine")], summary: SAID }, { window: 12_000 });
  expect(first.asked).toEqual(["summary", "question"]);
  expect(first.lane.finished).toMatchObject([{ text: "fine" }]);
  const sent = JSON.stringify(first.requests.at(-1)?.messages);
  expect([sent.includes("What was said."), sent.includes("question 0 "), sent.includes("the newest")]).toEqual([
    true,
    false,
    true,
  ]);
  const second = await run(on, "more", { questions: [say("fine too")] }, { window: 12_000 });
  expect(second.asked).toEqual(["question"]);
});

test("in the middle of a turn too, between a result and the next question", async () => {
  await using on = await stood(TALK.slice(0, 6));
  const script = { questions: [act("read", { path: "a.md" }), say("done")], summary: SAID };
  const { lane, asked } = await run(on, `the newest ${"word ".repeat(1_200)}`, script, { window: 9_000 });
  expect(lane.finished).toMatchObject([{ text: "done" }]);
  expect(asked.filter((one) => one === "question")).toHaveLength(2);
  expect(asked).toContain("summary");
});

test("B079 a summary that fails keeps nobody from an answer: the older part is left out, and the sender is told once", async () => {
  await using on = await stood();
  const down = failed("overloaded", { message: "too busy" });
  const { lane, told } = await run(on, "第二项呢？", { questions: [say("在这里")], summary: down }, { window: 12_000 });
  expect(lane.finished).toMatchObject([{ text: "在这里" }]);
  expect(told).toEqual([expect.stringMatching(/^为腾出空间.*too busy/)]);
  await using session = await on.sessions.open(KEY);
  const [first] = (await session.context()).messages;
  expect(first).toMatchObject({ role: "compactionSummary", summary: TRUNCATED });
});

test.each(["compaction:before-append", "compaction:after-append"])(
  "B078 killed at %s, the next life goes on with one compaction and one answer",
  async (at) => {
    await using on = await stood();
    const { lane } = await run(on, "the newest", { questions: [], summary: SAID }, { window: 12_000, crashAt: at });
    await run(on, "the newest", { questions: [say("fine")], summary: SAID }, { window: 12_000, lane });
    expect(lane.finished).toMatchObject([{ text: "fine" }]);
    const entries = await entriesOf(on.sessions);
    expect(outline(entries).filter((one) => one === "compaction")).toHaveLength(1);
    expect(usersWith(entries, "the newest")).toHaveLength(1);
  },
);

test("whether there is need: by what the provider counted last, else by an estimate, and from the last compaction on", () => {
  const entry = (fields: object, at: number) => ({ id: `e${at}`, parentId: null, timestamp: "", ...fields }) as Entry;
  const answer = (totalTokens: number) => ({
    type: "message",
    message: { role: "assistant", content: [], usage: { totalTokens } },
  });
  const full = (fields: readonly object[], window = 10_000) => isFull(fields.map(entry), { window, reserve: 2_000 });
  expect(full([answer(7_900)])).toBe(false);
  expect(full([answer(7_900), message("user", "x".repeat(800))])).toBe(true);
  expect(full([answer(9_000), { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 9_000 }])).toBe(
    false,
  );
  expect(full([message("user", "x".repeat(9_000))])).toBe(true);
  expect(full([answer(1_000_000)], Number.POSITIVE_INFINITY)).toBe(false);
  // A reserve larger than the window leaves half of it.
  expect(isFull([answer(3_000)].map(entry), { window: 4_096, reserve: 20_000 })).toBe(true);
  expect(isFull([answer(2_000)].map(entry), { window: 4_096, reserve: 20_000 })).toBe(false);
});
