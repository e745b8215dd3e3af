/** The contexts built here and by Pi 1.6.0 from the same files: equal, value for value. */
import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, parseLine } from "../../src/entry.ts";
import { project } from "../../src/projection.ts";
import { memorySource } from "../../src/reading/source.ts";
import { extendPath, readTail } from "../../src/reading/tail.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, call, compaction, custom, fileOf, make, message, result, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { transcripts } from "../support/trees.ts";

async function expectEqual(path: string, leaf?: string): Promise<void> {
  const ours = await contextOfTranscript(path, leaf === undefined ? {} : { leaf });
  const { messages, model, thinkingLevel } = ours;
  deepStrictEqual({ messages, thinkingLevel, model }, await piContext(path, leaf));
  expect(ours.entryIds.length).toBe(messages.length);
}

const u1 = user("u1", null, "one");
const a1 = answer("a1", "u1", "eins");
const u2 = user("u2", "a1", "two");
const c1 = call("c1", "u2", ["t1", "t2"]);
const r1 = result("r1", "c1", "t1");
const r2 = result("r2", "r1", "t2");
const a2 = answer("a2", "r2", "zwei");
const base = [u1, a1, u2, c1, r1, r2, a2];
const summary = (fields = {}): Entry =>
  make("branch_summary", "b1", "a1", { fromId: "a2", summary: "left", ...fields });

const CASES: Readonly<Record<string, readonly unknown[]>> = {
  "header only": [],
  "a first user message only": [u1],
  "calls and results": base,
  "a compaction that keeps some": [...base, compaction("k", "a2", "c1"), user("u3", "k", "on")],
  "a compaction that keeps nothing": [...base, compaction("k", "a2", "k"), user("u3", "k", "on")],
  "a compaction as the leaf": [...base, compaction("k", "a2", "a2")],
  "two compactions, the newer keeps across the older": [
    ...base,
    compaction("k", "a2", "r2"),
    user("u3", "k", "x"),
    compaction("k2", "u3", "a2"),
    user("u4", "k2", "y"),
  ],
  "a compaction with details and a system prompt": [
    message("s", null, { role: "system", content: "prompt", timestamp: 5 }),
    user("u1", "s", "one"),
    compaction("k", "u1", "s", { details: { strategy: "summary" }, systemMessage: { role: "system", content: "P" } }),
    message("s2", "k", { role: "system", content: null }),
  ],
  "a branch summary": [...base, summary(), user("u3", "b1", "other way")],
  "an empty branch summary": [...base, summary({ summary: "" }), user("u3", "b1", "other way")],
  "custom messages": [
    u1,
    make("custom_message", "m1", "u1", { customType: "note", content: "text", display: true }),
    make("custom_message", "m2", "m1", {
      customType: "n",
      content: [{ type: "text", text: "b" }],
      display: false,
      details: { a: 1 },
    }),
    make("custom_message", "m3", "m2", { customType: "empty", display: true }),
  ],
  "context edits": [
    ...base,
    make("context_edit", "e1", "a2", { targetId: "a1", replacement: { content: "short" } }),
    make("context_edit", "e2", "e1", { targetId: "r1", replacement: null }),
    make("context_edit", "e3", "e2", { targetId: "u2", replacement: { content: "said otherwise" } }),
    make("context_edit", "e4", "e3", { targetId: "u2", replacement: { content: [{ type: "text", text: "again" }] } }),
    make("context_edit", "e5", "e4", { targetId: "nobody", replacement: null }),
  ],
  "an edit that takes a compaction away": [
    ...base,
    compaction("k", "a2", "a2"),
    make("context_edit", "e", "k", { targetId: "k", replacement: null }),
  ],
  "an edit of a compaction and of a system prompt": [
    message("s", null, { role: "system", content: "prompt" }),
    make("context_edit", "e", "s", { targetId: "s", replacement: { content: "other" } }),
  ],
  "labels, names, usage, unknown types": [
    u1,
    make("label", "l1", "u1", { targetId: "u1", label: "here" }),
    make("session_info", "i1", "l1", { name: "a name" }),
    make("usage", "g1", "i1", { kind: "x", usage: {} }),
    make("from_the_future", "f1", "g1", { anything: [1] }),
    answer("a1", "f1", "eins"),
  ],
  "settings before and after a compaction": [
    make("model_change", "mc", null, { provider: "p1", modelId: "m1" }),
    make("thinking_level_change", "th", "mc", { thinkingLevel: "high" }),
    user("u1", "th", "one"),
    user("u2", "u1", "two"),
    compaction("k", "u2", "u2"),
  ],
  "messages without content, old roles": [
    message("x1", null, { role: "user" }),
    message("x2", "x1", { role: "assistant", content: null }),
    message("x3", "x2", { role: "toolResult", toolCallId: "t", toolName: "n" }),
    message("x4", "x3", { role: "bashExecution", command: "ls", output: "a", exitCode: 0 }),
    message("x5", "x4", { role: "custom", customType: "c", content: "t", display: true }),
  ],
  "a moved leaf": [...base, custom("h", "a1", "holdfast:leaf", { from: "a2" })],
  "a moved leaf and on": [...base, custom("h", "a1", "holdfast:leaf", { from: "a2" }), user("u3", "h", "other")],
  "a second root": [...base, user("v", null, "from the start"), answer("w", "v", "new")],
  "our own fields": [
    user("u1", null, "one", { g: 1, t: 1 }),
    answer("a1", "u1", "eins", { g: 1, t: 1, answers: ["u1"], seen: "u1" }),
  ],
  "entries before a timestamp": [{ type: "compaction", id: "k", parentId: null, summary: "s", firstKeptEntryId: "k" }],
};

describe("hand-made files", () => {
  for (const [name, entries] of Object.entries(CASES)) {
    test(name, async () => {
      await using directory = await tempDir();
      const path = await directory.write("a.jsonl", fileOf(entries));
      expect(await verifyTranscript(path)).toMatchObject({ ok: true, entries: entries.length });
      await expectEqual(path);
    });
  }

  test("the reference trees", async () => {
    await using directory = await tempDir();
    const abc = await directory.write(
      "abc.jsonl",
      fileOf([user("A", null, "tidy"), answer("B", "A", "b"), answer("C", "A", "c")]),
    );
    await expectEqual(abc);
    expect((await contextOfTranscript(abc)).entryIds).toEqual(["A", "C"]);
    const mail = await directory.write(
      "mail.jsonl",
      fileOf([
        user("msg_001", null, "write me an e-mail"),
        answer("msg_002", "msg_001", "formal version"),
        user("msg_003", "msg_002", "shorter"),
        answer("msg_004", "msg_003", "changed"),
        user("msg_005", "msg_001", "in an easy tone"),
        answer("msg_006", "msg_005", "easy version"),
      ]),
    );
    await expectEqual(mail);
    expect((await contextOfTranscript(mail, { leaf: "msg_005" })).entryIds).toEqual(["msg_001", "msg_005"]);
    await expectEqual(mail, "msg_004");
  });

  test("line ends, blank lines and a last line without its end do not matter", async () => {
    await using directory = await tempDir();
    const text = fileOf(base).replaceAll("\n", "\r\n\r\n").trimEnd();
    const path = await directory.write("a.jsonl", text);
    expect((await verifyTranscript(path)).ok).toBe(true);
    await expectEqual(path);
  });
});

describe("real and old files", () => {
  test("a real file of version 1 with compactions", async () => {
    const path = new URL("../fixtures/real-pi-v1-with-compactions.jsonl", import.meta.url).pathname;
    expect(await verifyTranscript(path)).toMatchObject({ ok: true, entries: 1002, gaps: [] });
    await expectEqual(path);
  });

  test("version 2: roles are renamed", async () => {
    await using directory = await tempDir();
    const hook = message("x", "a2", { role: "hookMessage", customType: "h", content: "t", display: true });
    const path = await directory.write("a.jsonl", fileOf([...base, hook], { type: "session", version: 2, id: "s" }));
    await expectEqual(path);
  });

  test("version 3 without ids: Pi sees the last entry only, we see all, and say so", async () => {
    const path = new URL("../fixtures/entries-without-ids.jsonl", import.meta.url).pathname;
    expect((await piContext(path)).messages.length).toBe(1);
    const context = await contextOfTranscript(path);
    expect(context.entryIds).toEqual(["line-3", "line-4", "line-5"]);
    const report = await verifyTranscript(path);
    expect(report).toMatchObject({ ok: false, entries: 4, leaf: "line-5", openCalls: [] });
    expect(report.damaged.map(({ line, why }) => [line, why])).toEqual([2, 3, 4, 5].map((line) => [line, "no id"]));
  });
});

describe("random trees", () => {
  test("equal to Pi at the leaf and at any other entry", { timeout: 120_000 }, async () => {
    await using directory = await tempDir();
    await fc.assert(
      fc.asyncProperty(transcripts, fc.nat(), async (entries, at) => {
        const path = await directory.write("a.jsonl", fileOf(entries));
        expect((await verifyTranscript(path)).ok).toBe(true);
        await expectEqual(path);
        const other = entries[at % Math.max(1, entries.length)];
        if (other !== undefined) await expectEqual(path, other.id);
      }),
      { numRuns: 200, seed: 20260105 },
    );
  });

  test("the tail alone, and growth taken in, give the messages of the whole file", async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, fc.nat(), async (entries, cut) => {
        const text = fileOf(entries);
        const loaded = await readTail(memorySource(text));
        const whole = project(loaded.path, { whole: loaded.whole });
        const before = cut % (entries.length + 1);
        const earlier = await readTail(memorySource(fileOf(entries.slice(0, before))));
        const grown = extendPath(earlier, entries.slice(before).map(reread));
        if (grown !== null) deepStrictEqual(project(grown.path, { whole: grown.whole }).messages, whole.messages);
      }),
      { numRuns: 300, seed: 20260106 },
    );
  });
});

function reread(entry: Entry): Entry {
  const parsed = parseLine(JSON.stringify(entry));
  if (parsed.kind !== "entry") throw new TypeError(parsed.kind);
  return parsed.entry;
}
