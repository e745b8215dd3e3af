/** Searching one transcript: every branch, any language, bounded, and never more than a line of excerpt. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTranscript } from "@holdfast/sessions";
import { searchTranscript } from "@holdfast/sessions/internal";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "./support/directories.ts";
import { answer, user } from "./support/entries.ts";

let directory: TestDirectory;
let file: string;
beforeEach(async () => {
  directory = await testDirectory();
  file = join(directory.path, "s.jsonl");
});
afterEach(() => directory[Symbol.asyncDispose]());

async function say(...texts: readonly string[]): Promise<string[]> {
  await using session = await openTranscript(file, { create: true, fsync: "never" });
  const { entries } = await session.append(texts.map((text) => user(text)));
  return entries.map(({ id }) => id);
}
const find = async (text: string, limit = 50) => searchTranscript(file, text, { limit });

test.each([
  ["刚才第二项待办，能不能再拆细一点？", "第二项待办"],
  ["メモを保存しました", "保存"],
  ["Die ÜBERSICHT fehlt", "übersicht"],
  ["cafe\u0301 at nine", "caf\u00e9"],
  ["a (b|c)* [d]", "(B|C)*"],
  ["what? 👍🏽 fine", "👍🏽"],
])("%s is found by %s", async (text, wanted) => {
  const [id] = await say(text, "something else");
  expect((await find(wanted)).hits.map((hit) => hit.id)).toEqual([id]);
});

test("any part of what was said is found, in any case", async () => {
  const texts = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== "");
  const said = fc.sample(texts, 60);
  await say(...said);
  for (const [at, text] of said.entries()) {
    const part = text.trim().slice(at % 3, 12) || text.trim();
    const { matches } = await find(part.toUpperCase(), said.length);
    expect(matches).toBe(said.filter((other) => other.trim().toLowerCase().includes(part.toLowerCase())).length);
  }
});

test("the branch that was left is looked at too, and said to be another one", async () => {
  const [first, second] = await say("the plan", "the plan, left behind");
  await using session = await openTranscript(file);
  await session.branch(first!);
  await session.append(answer("another plan"));
  const { hits } = await find("PLAN");
  expect(hits.map(({ current, role }) => [role, current])).toEqual([
    ["assistant", true],
    ["user", false],
    ["user", true],
  ]);
  expect(hits.map(({ id }) => id).slice(1)).toEqual([second, first]);
});

test("tools, summaries, labels and names are found; thoughts and book-keeping are not", async () => {
  const call = { type: "toolCall", id: "c", name: "write", arguments: { path: "notes/needle.md" } };
  const thought = { type: "thinking", thinking: "a needle in my head" };
  await using session = await openTranscript(file, { create: true });
  await session.append([
    { type: "message", message: { role: "assistant", content: [thought, call] } },
    {
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: "c",
        toolName: "write",
        content: [{ type: "text", text: "needle saved" }],
      },
    },
    { type: "session_info", name: "the needle" },
    { type: "custom", customType: "needle", data: { needle: "needle" } },
  ]);
  expect((await find("needle")).hits.map(({ role }) => role)).toEqual(["session_info", "toolResult", "assistant"]);
});

test("the newest of many are kept, all are counted, excerpts are one short line", async () => {
  await say(...Array.from({ length: 30 }, (_, at) => `${"x ".repeat(500)}\nNeedle\n${at} ${"y ".repeat(500)}`));
  const { hits, matches } = await find("needle", 3);
  expect(matches).toBe(30);
  expect(hits.map(({ excerpt }) => /Needle (\d+)/.exec(excerpt)?.[1])).toEqual(["29", "28", "27"]);
  for (const { excerpt } of hits) expect(excerpt.length).toBeLessThan(300);
});

test("damage hides nothing behind it", async () => {
  const line = (id: string, text: string): string =>
    JSON.stringify({ type: "message", id, parentId: null, message: { role: "user", content: text } });
  await writeFile(file, `${line("a", "needle one")}\n{"torn\n\u0000\u0000\n${line("b", "needle two")}`);
  expect((await find("needle")).hits.map(({ id }) => id)).toEqual(["b", "a"]);
});
