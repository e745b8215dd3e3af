/** The flat layout and the JSON export: in, out, and back. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { peekFlat, readFlat } from "../../src/formats/flat.ts";
import { memorySource } from "../../src/reading/source.ts";
import { type ExportFormat, exportTranscript } from "../../src/keeping/export.ts";
import { convertTranscript } from "../../src/keeping/convert.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { fileOf, type TempDir, tempDir } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { transcripts } from "../support/trees.ts";

const say = (id: string, parentId: string | null | undefined, role: string, content: string, more = {}) => ({
  id,
  ...(parentId === undefined ? {} : { parentId }),
  role,
  content,
  timestamp: 1710000000.25,
  channel: "telegram",
  ...more,
});
const summary = (id: string, count: number) =>
  say(id, null, "system", "[会话摘要] 之前", { metadata: { type: "compaction", originalCount: count, other: 1 } });

const linesOf = (all: readonly unknown[]) => all.map((one) => `${JSON.stringify(one)}\n`).join("");

async function exported(file: string, format: ExportFormat): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of exportTranscript(file, { format })) pieces.push(String(piece));
  return pieces.join("");
}

async function converted(dir: TempDir, text: string, name = "telegram_123456.jsonl") {
  const file = await dir.write(name, text);
  const { repaired, changes } = await convertTranscript(file);
  expect(await readFile(file, "utf8")).toBe(text);
  expect(await verifyTranscript(repaired ?? "")).toMatchObject({ ok: true });
  const context = await contextOfTranscript(repaired ?? "");
  expect((await piContext(repaired ?? "")).messages).toEqual(context.messages);
  return { file: repaired ?? "", changes, ids: context.entryIds, context };
}

const chain = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    say(`m${n}`, n === 0 ? null : `m${n - 1}`, n % 2 === 0 ? "user" : "assistant", `t${n}`),
  );

describe("summaries", () => {
  const cases: Readonly<Record<string, readonly [lines: readonly unknown[], ids: readonly string[]]>> = {
    "named by what follows: stands for all before": [
      [...chain(3), summary("c", 3), say("m9", "c", "user", "on")],
      ["c", "m9"],
    ],
    "named, counting less than there is: the rest stays": [
      [...chain(3), summary("c", 2), say("m9", "c", "user", "on")],
      ["c", "m2", "m9"],
    ],
    "named by nobody: stands for the first messages of the chain": [
      [...chain(4), summary("c", 3)],
      ["c", "m3"],
    ],
    "named by nobody, in the middle": [
      [...chain(4), summary("c", 3), say("m4", "m3", "user", "on")],
      ["c", "m3", "m4"],
    ],
    "two, the newer counts": [
      [...chain(4), summary("c", 2), summary("d", 3)],
      ["d", "m3"],
    ],
    "a later one of a chain that began with one": [
      [...chain(2), summary("c", 2), say("m8", "c", "user", "x"), summary("d", 2), say("m9", "d", "user", "y")],
      ["d", "m9"],
    ],
    "of messages that are not in the file": [
      [summary("c", 9), say("m9", "m8", "user", "on")],
      ["c", "m9"],
    ],
  };
  test.each(Object.entries(cases))("%s", async (_name, [lines, ids]) => {
    await using dir = await tempDir();
    const made = await converted(dir, linesOf(lines));
    expect(made.ids).toEqual(ids);
    const all = (await treeOfTranscript(made.file)).nodes.map(({ id }) => id);
    expect(all.toSorted()).toEqual(lines.map((line) => (line as { id: string }).id).toSorted());
  });
});

test("goes back as it was, field for field", async () => {
  await using dir = await tempDir();
  const lines = [
    say("m0", null, "user", "你好", { metadata: { media: [{ kind: "image" }] }, more: { deep: [1, null] } }),
    say("m1", "m0", "assistant", "", { timestamp: 1710000000.123456 }),
    say("s", "m1", "system", "be kind", { channel: undefined }),
    { ...say("t", "s", "assistant", "42"), metadata: { type: "tool_result", toolCallId: "c1", toolName: "sum" } },
    { id: "n", parentId: "t", role: "user", content: "no time" },
    summary("c", 5),
    say("m9", "c", "user", "on"),
  ];
  const { file } = await converted(dir, linesOf(lines));
  expect(
    (await exported(file, "flat"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(JSON.parse(JSON.stringify(lines)));
});

test("the fixture goes back byte for byte", async () => {
  await using dir = await tempDir();
  const text = `{"id":"msg_001","parentId":null,"role":"user","content":"你好","timestamp":1710000000,"channel":"telegram"}
{"id":"compact_001","parentId":null,"role":"system","content":"[会话摘要] 打过招呼。","timestamp":1710001000,"metadata":{"type":"compaction","originalCount":1}}
{"id":"msg_004","parentId":"compact_001","role":"user","content":"再来一段","timestamp":1710001010,"channel":"telegram"}
`;
  expect(await exported((await converted(dir, text)).file, "flat")).toBe(text);
});

test("damaged lines, repetitions and gaps are named; no message is lost", async () => {
  await using dir = await tempDir();
  const [m0, m1, m2] = chain(3);
  const text = `\uFEFF${linesOf([m0, m1])}{"id":"m\n\n${linesOf([m1, { ...m2, parentId: "lost" }, { ...m2, id: undefined, parentId: "m2", content: "anonymous" }])}`;
  const { changes, ids } = await converted(dir, text);
  expect(changes.map(({ what, line }) => [what, line])).toEqual([
    ["damage_set_aside", 3],
    ["repetition_dropped", 5],
  ]);
  expect(ids).toEqual(["m0", "m1", "m2", "old-7"]);
});

test("roles become what they are here", async () => {
  await using dir = await tempDir();
  const lines = [
    say("m0", null, "user", "hi"),
    say("s", "m0", "system", "be kind"),
    say("t", "s", "assistant", "42", { metadata: { type: "tool_result", toolCallId: "c1", toolName: "sum" } }),
    say("o", "t", "assistant", "no call", { metadata: { type: "tool_result" } }),
  ];
  const { context } = await converted(dir, linesOf(lines));
  expect(context.messages).toMatchObject([
    { role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1710000000250 },
    { role: "custom", customType: "system", content: "be kind", display: true },
    { role: "toolResult", toolCallId: "c1", toolName: "sum", isError: false },
    { role: "assistant", content: [{ type: "text", text: "no call" }] },
  ]);
});

test("JSON has the promised shape over all branches", async () => {
  await using dir = await tempDir();
  const { file } = await converted(dir, linesOf([...chain(2), say("b", "m0", "assistant", "other")]));
  const value = JSON.parse(await exported(file, "json"));
  expect(Object.keys(value)).toEqual(["session", "leaf", "messages"]);
  expect(value.leaf).toBe("b");
  for (const message of value.messages) {
    expect(Object.keys(message)).toEqual(["id", "parentId", "role", "content", "timestamp", "channel", "metadata"]);
    expect(message).toMatchObject({
      timestamp: 1710000000.25,
      metadata: { timestampMs: 1710000000250 },
      channel: "telegram",
    });
  }
  expect(value.messages.map(({ id, parentId }: { id: string; parentId: string }) => [id, parentId])).toEqual([
    ["m0", null],
    ["m1", "m0"],
    ["b", "m0"],
  ]);
});

test("any transcript goes out as JSON and comes back with the same messages on every branch", async () => {
  await using dir = await tempDir();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(transcripts, async (all) => {
      const file = await dir.write(`t${number++}.jsonl`, fileOf(all));
      const text = await exported(file, "json");
      if (JSON.parse(text).messages.length === 0) return;
      const out = await dir.write(`o${number}.json`, text);
      const { repaired } = await convertTranscript(out, { target: join(dir.path, `b${number}.jsonl`) });
      const back = repaired ?? "";
      expect(await verifyTranscript(back)).toMatchObject({ gaps: expect.any(Array), damaged: [], duplicates: [] });
      const was = new Map((await treeOfTranscript(file)).nodes.map((node) => [node.id, node]));
      const came = (await treeOfTranscript(back)).nodes.filter(({ type }) => type !== "custom");
      expect(came.map(({ id, text, role }) => [id, text, role])).toEqual(
        [...was.values()]
          .filter(({ id }) => came.some((one) => one.id === id))
          .map(({ id, text, role }) => [id, text, role]),
      );
      expect(came).toHaveLength(JSON.parse(text).messages.length);
    }),
    { numRuns: 60 },
  );
}, 15_000);

test("the first and last lines say of the file what all of it says", async () => {
  const line = fc.record(
    {
      id: fc.constantFrom("a", "b", "c"),
      role: fc.constantFrom("user", "assistant", "system", 1),
      timestamp: fc.constantFrom(1710000000, 1710000001.5, "x", null),
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    line.map((one) => JSON.stringify(one)),
    fc.constantFrom("", "{", "[]"),
  );
  const property = fc.asyncProperty(fc.array(text, { maxLength: 6 }), async (lines) => {
    const source = memorySource(lines.join("\n"));
    const { began, lastUserMs, messages } = await readFlat(source);
    expect(await peekFlat(source)).toEqual(messages === 0 ? undefined : { began, lastUserMs });
  });
  await fc.assert(property, { numRuns: 300 });
});
