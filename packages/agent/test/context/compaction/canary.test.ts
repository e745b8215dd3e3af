/**
 * Facts that were said once, over twenty compactions of five thousand entries: the summariser keeps what it is told to keep, so
 * whatever is lost was lost by our prompts and plumbing. And summarisers that keep nothing: the conversation goes on.
 */
import { memorySessions, type NewEntry } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { type Compacted, compact, TRUNCATED } from "../../../src/context/compaction/compact.ts";
import { say, scriptedModel } from "../../../src/model/scripted.ts";
import type { Model, ModelRequest } from "../../../src/types.ts";
import { KEY } from "../../support/agent.ts";
import { steeredWorld } from "../../support/stage.ts";

const ROUNDS = 20;
const ENTRIES = 250;
/** Three a round: identifiers, numbers, names, Chinese among them. */
const FACTS = Array.from({ length: ROUNDS }, (_, round) => [
  `⟦ticket OPS-${4_000 + round} is owned by Zoë Ångström⟧`,
  `⟦发票 ${88_000_017 + round} 的金额是 ${round},${round}34.50 元，联系人王小明${round}⟧`,
  `⟦the key of shelf ${round} is 0x${(0xbeef00 + round).toString(16)}, at 51.${round}077° N⟧`,
]).flat();

const said = (role: string, text: string): NewEntry => ({
  type: "message",
  message: { role, content: [{ type: "text", text }] },
});

/** A round of talk and work with its three facts: said by the person, by the assistant, found by a tool. */
function round(at: number): readonly NewEntry[] {
  const [one = "", two = "", three = ""] = FACTS.slice(3 * at, 3 * at + 3);
  const spots = new Map([
    [11 + at, one],
    [101 + at, two],
    [199, three],
  ]);
  return Array.from({ length: ENTRIES / 5 }, (_, talk) => {
    const fact = (entry: number): string =>
      spots.get(5 * talk + entry) ?? [...spots].find(([spot]) => Math.floor(spot / 5) === talk)?.[1] ?? "";
    const id = `r${at}-${talk}`;
    const call = { type: "toolCall", id, name: "read", arguments: { path: `notes/${id}.md` } };
    return [
      said("user", `What about part ${id}? ${at % 2 === 0 ? fact(0) : ""} ${"and so on ".repeat(20)}`),
      { type: "message", message: { role: "assistant", content: [{ type: "text", text: "I look." }, call] } },
      {
        type: "message",
        message: {
          role: "toolResult",
          toolCallId: id,
          toolName: "read",
          content: [{ type: "text", text: `${at % 2 === 1 ? fact(2) : ""} ${"line of the file ".repeat(40)}` }],
          isError: false,
        },
      },
      said("assistant", `It is done. ${talk % 2 === 0 ? fact(3) : ""} ${"and more ".repeat(20)}`),
      said("user", `好的，继续 ${id} ${talk % 2 === 1 ? fact(4) : ""}`),
    ] as readonly NewEntry[];
  }).flat();
}

const textOf = ({ messages }: ModelRequest): string => JSON.stringify(messages);

/** Keeps what it is told to keep verbatim, from the earlier summary and the part it is shown. */
function keeper(asked: { count: number }): Model {
  return scriptedModel((request) => {
    asked.count += 1;
    const facts = new Set(textOf(request as ModelRequest).match(/⟦[^⟧]*⟧/gu) ?? []);
    return say(`## Facts\n${[...facts].map((fact) => `- ${fact}`).join("\n")}`);
  });
}

async function compactedOften(modelOf: (asked: { count: number }) => Model, window: number) {
  const world = steeredWorld();
  await using sessions = memorySessions(world);
  await using session = await sessions.open(KEY);
  const asked = { count: 0 };
  const model: Model = { ...modelOf(asked), contextWindow: async () => window };
  const claim = await session.claimTurn("me", 30_000);
  if (claim.kind === "held") throw new Error("held");
  const settings = {
    strategy: "summary",
    keepRecentTokens: 3_000,
    keepRecentMessages: null,
    instructions: null,
    reserveTokens: 1_000,
    auto: true,
  } as const;
  const made: Compacted[] = [];
  for (let at = 0; at < ROUNDS; at++) {
    await session.append(round(at), { right: claim.right });
    const work = { session, model, world, settings, signal: new AbortController().signal };
    const add = (entry: NewEntry) => session.append(entry, { right: claim.right });
    made.push(await compact({ ...work, add }, { focus: null, reason: "threshold" }));
  }
  const { messages } = await session.context();
  return { made, asked: asked.count, text: JSON.stringify(messages), entries: (await session.since(null)).length };
}

describe.each([16_000, 64_000])("a window of %i tokens", (window) => {
  test(`${FACTS.length} facts, ${ROUNDS} compactions, ${ROUNDS * ENTRIES} entries: none is lost`, async () => {
    const { made, asked, text, entries } = await compactedOften(keeper, window);
    expect(entries).toBeGreaterThan(ROUNDS * ENTRIES);
    expect(made.map((one) => one.kind === "compacted" && one.strategy)).toEqual(made.map(() => "summary"));
    expect(FACTS.filter((fact) => !text.includes(fact))).toEqual([]);
    expect(asked).toBeGreaterThanOrEqual(ROUNDS);
  });
});

test.each([
  ["nothing", () => say("")],
  ["garbage that grows", (request: ModelRequest) => say(`${textOf(request)} ${textOf(request)}`)],
  ["fifty pages", () => say("page after page ".repeat(12_000))],
] as const)(
  "a summariser that gives %s: the older part is left out, and the conversation goes on",
  async (_name, answer) => {
    const { made, text } = await compactedOften(
      () => scriptedModel((request) => answer(request as ModelRequest)),
      16_000,
    );
    expect(made.every((one) => one.kind === "compacted" && one.strategy === "truncate" && one.instead !== null)).toBe(
      true,
    );
    expect(text).toContain(TRUNCATED.slice(1, -1));
    expect(text.length).toBeLessThan(60_000);
  },
);
