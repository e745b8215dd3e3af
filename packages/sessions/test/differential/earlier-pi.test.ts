/**
 * Pi 0.75.4 as a second judge of the same random files. It reads the format as 1.6.0 and we do, but for three things that
 * came later:
 * - `context_edit` is an unknown type to it: the entry that was edited is seen as it was written;
 * - a compaction's `systemMessage` is not seen, and system messages among what a compaction keeps are;
 * - a system message without content has null there, where 1.6.0 and we have an empty text.
 * Without these the three say the same, value for value; with them 0.75.4 may differ, and differs nowhere else.
 */
import { deepStrictEqual } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { contextOfTranscript } from "../../src/transcript.ts";
import { earlierPiContext } from "../support/earlier-pi.ts";
import { type RandomFile, randomFiles } from "../support/features.ts";
import { compaction, fileOf, make, message, tempDir, user } from "../support/make.ts";
import { type PiContext, piContext } from "../support/pi.ts";

const TREES = process.env.HOLDFAST_LARGE === "1" ? 2000 : 150;
const files = fc.sample(randomFiles, { numRuns: TREES, seed: 20260107 });

async function ours(path: string, leaf?: string): Promise<PiContext> {
  const { messages, model, thinkingLevel } = await contextOfTranscript(path, leaf === undefined ? {} : { leaf });
  return { messages, thinkingLevel: String(thinkingLevel), model };
}

/** Each line without what 0.75.4 does not know; their number stays, since version 1 counts them. */
function withoutLater(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `${JSON.stringify(known(JSON.parse(line)))}\n`)
    .join("");
}

function known({ systemMessage: _, ...entry }: Record<string, unknown>): Record<string, unknown> {
  const { type, message: body, ...rest } = entry;
  const isLater = type === "context_edit" || (isObject(body) && body.role === "system");
  return isLater ? { ...rest, type: "custom", customType: "later" } : entry;
}

/** In version 1 entries have no ids that one could move to. */
function otherLeaf({ version, entries }: RandomFile, index: number): readonly (string | undefined)[] {
  return version === 1 ? [undefined] : [undefined, entries[(index * 7919) % entries.length]?.id];
}

test("three say the same of what all of them know, at the leaf and elsewhere", { timeout: 600_000 }, async () => {
  await using directory = await tempDir();
  for (const [index, file] of files.entries()) {
    const path = await directory.write("a.jsonl", withoutLater(file.text));
    for (const leaf of otherLeaf(file, index)) {
      const earlier = await earlierPiContext(path, leaf);
      deepStrictEqual(await ours(path, leaf), earlier, `file ${index}`);
      deepStrictEqual(await piContext(path, leaf), earlier, `file ${index}`);
    }
  }
});

test("0.75.4 differs only where one of the three later things is", { timeout: 600_000 }, async () => {
  await using directory = await tempDir();
  const counted = { same: 0, different: 0 };
  for (const [index, { text }] of files.entries()) {
    const path = await directory.write("a.jsonl", text);
    const isSame = isDeepStrictEqual(await ours(path), await earlierPiContext(path));
    counted[isSame ? "same" : "different"] += 1;
    const hasLater = /"type":"context_edit"|"systemMessage":|"role":"system"/.test(text);
    expect(isSame || hasLater, `file ${index}`).toBe(true);
  }
  expect(Math.min(counted.same, counted.different)).toBeGreaterThan(TREES / 10);
});

const u1 = user("u1", null, "one");
const system = message("s", "u1", { role: "system", content: "prompt" });

test.each<[string, readonly unknown[], readonly string[], readonly string[]]>([
  [
    "an edit",
    [u1, make("context_edit", "e", "u1", { targetId: "u1", replacement: { content: "otherwise" } })],
    ["otherwise"],
    ["one"],
  ],
  [
    "a compaction's system message",
    [u1, compaction("k", "u1", "u1", { systemMessage: { role: "system", content: "P" } })],
    ["P", "summary k", "one"],
    ["summary k", "one"],
  ],
  [
    "a system message that a compaction keeps",
    [u1, system, compaction("k", "s", "u1")],
    ["summary k", "one"],
    ["summary k", "one", "prompt"],
  ],
  ["a system message without content", [message("s", null, { role: "system", content: null })], [""], ["null"]],
])("%s", async (_name, entries, now, then) => {
  await using directory = await tempDir();
  const path = await directory.write("a.jsonl", fileOf(entries));
  expect(textsOf(await ours(path))).toEqual(now);
  expect(textsOf(await piContext(path))).toEqual(now);
  expect(textsOf(await earlierPiContext(path))).toEqual(then);
});

function textsOf({ messages }: PiContext): string[] {
  return (messages as { content?: unknown; summary?: string }[]).map(({ content, summary }) => {
    const [first] = Array.isArray(content) ? (content as { text: string }[]) : [];
    return summary ?? first?.text ?? String(content);
  });
}
