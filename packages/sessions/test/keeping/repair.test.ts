/** Repair: judged by verify, by Pi, and by the bytes of what was there before. */
import { deepStrictEqual } from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageEntry } from "../../src/entry.ts";
import { project } from "../../src/projection.ts";
import { openSource } from "../../src/reading/source.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { answer, compaction, custom, fileOf, make, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { transcripts } from "../support/trees.ts";
import { wounded, wounds } from "../support/wounds.ts";

const u1 = user("u1", null, "one");
const a1 = answer("a1", "u1", "eins");
const u2 = user("u2", "a1", "two");
const text = fileOf([u1, a1, u2]);

async function contextOf(path: string) {
  const { messages, thinkingLevel } = await contextOfTranscript(path);
  return { messages, thinkingLevel };
}

/** From the whole file: from its end alone, a repetition with another time may stand for the entry that it repeats. */
async function wholeContextOf(path: string) {
  await using source = await openSource(path);
  const { tree, leaf, read } = await readWhole(source);
  const entries = await Promise.all(tree.pathTo(leaf).map(read));
  const { messages, thinkingLevel } = project(entries, { whole: true });
  return { messages, thinkingLevel };
}

describe("what is found is mended and named", () => {
  const cases: Readonly<Record<string, readonly [damaged: string, changes: readonly string[]]>> = {
    "a torn last line": [`${text}{"type":"mess`, ["damage_set_aside"]],
    "a torn line in the middle": [text.replace('"eins"', ""), ["damage_set_aside", "parent_set"]],
    "a torn header": [text.replace(/^.*\n/, '{"type":"sess\n'), ["header_made", "damage_set_aside"]],
    "no header": [text.replace(/^.*\n/, ""), ["header_made"]],
    "a header that comes late": [text.replace(/^(.*\n)(.*\n)/, "$2$1"), ["header_moved", "damage_set_aside"]],
    "blank lines": [text.replaceAll("\n", "\n\n"), Array(4).fill("blank_dropped")],
    "a line twice": [text + JSON.stringify(u2), ["repetition_dropped"]],
    "an id used twice": [text + JSON.stringify({ ...u1, id: "u2", parentId: "u2" }), ["id_given"]],
    "a parent that is not there": [text + JSON.stringify(user("u3", "x", "y")), ["parent_set"]],
    "an entry that is its own parent": [text + JSON.stringify(user("u3", "u3", "y")), ["parent_set"]],
    "a message without a role": [
      text + JSON.stringify({ ...u2, id: "u3", parentId: "u2", message: { content: "x" } }),
      ["fields_set_aside"],
    ],
    "a kept entry that is not on the path": [text + JSON.stringify(compaction("k", "u2", "zz")), ["kept_entry_set"]],
    "NUL bytes before a line": [`${text}\0\0${JSON.stringify(user("u3", "u2", "y"))}`, ["text_cleaned"]],
    "invalid UTF-8 is replaced as readers replace it": [text.replace("two", "t\u00ff\u00fe"), []],
    "a late entry whose way back was cut off": [
      text + JSON.stringify(user("u3", "u1", "y", { returnTo: "u2" })),
      ["leaf_stated"],
    ],
    "a stale line at the end": [
      `${text}${JSON.stringify(custom("f", "u2", "holdfast:fence", { g: 5 }, { g: 5 }))}\n${JSON.stringify(user("s", "f", "old", { g: 2 }))}`,
      ["stale_marked", "leaf_stated"],
    ],
  };

  test.each(Object.entries(cases))("%s", async (_name, [damaged, expected]) => {
    await using dir = await tempDir();
    const file = await dir.write("s-1.jsonl", damaged);
    const before = await readFile(file);
    const report = await repairTranscript(file);
    expect(report.changes.map(({ what }) => what).toSorted()).toEqual([...expected].toSorted());
    expect(await readFile(file)).toEqual(before);
    if (expected.length === 0) return expect(report.repaired).toBeNull();
    const repaired = report.repaired ?? "";
    expect(await verifyTranscript(repaired)).toMatchObject({ ok: true });
    expect(await contextOf(repaired)).toEqual(await contextOf(file));
    expect((await contextOfTranscript(repaired)).messages).toEqual((await piContext(repaired)).messages);
    expect((await stat(repaired)).mode & 0o777).toBe(0o600);
  });
});

test("bytes that are dropped are kept in the side file, in the order of the report", async () => {
  await using dir = await tempDir();
  const bad = [Buffer.from([0x7b, 0xff, 0x00, 0x22]), Buffer.from("not json")];
  const file = await dir.write(
    "s-1.jsonl",
    Buffer.concat([Buffer.from(text), ...bad.flatMap((b) => [b, Buffer.from("\n")])]),
  );
  const report = await repairTranscript(file);
  const kept = await readFile(report.damaged ?? "");
  expect(kept).toEqual(Buffer.concat(bad.flatMap((bytes) => [bytes, Buffer.from("\n")])));
  const original = await readFile(file);
  const slices = report.changes.map(({ offset, bytes }) => original.subarray(offset, offset + bytes));
  expect(slices).toEqual(bad);
});

test("lines that need no change keep their bytes, whatever their spacing and numbers", async () => {
  await using dir = await tempDir();
  const odd =
    '{ "id":"x1", "type":"custom", "parentId":"u2", "timestamp":"t", "customType":"n", "data":12345678901234567890.0 }';
  const file = await dir.write("s-1.jsonl", `${text}${odd}\nbroken\n`);
  const { repaired } = await repairTranscript(file);
  expect((await readFile(repaired ?? "", "utf8")).split("\n")).toContain(odd);
});

test("an edit keeps to the entry above it, also when that had to be renamed", async () => {
  await using dir = await tempDir();
  const edit = make("context_edit", "x", "u2", { targetId: "u2", replacement: { content: "edited" } });
  const file = await dir.write("s-1.jsonl", text + fileOf([user("u2", "u2", "again"), edit]).replace(/^.*\n/, ""));
  const { repaired, changes } = await repairTranscript(file);
  expect(changes.map(({ what }) => what)).toEqual(["id_given", "target_set"]);
  const contents = (await contextOfTranscript(repaired ?? "")).messages.map(({ content }) => content);
  expect(contents).toEqual([u1, a1, u2].map((one) => (one as MessageEntry).message.content).concat("edited"));
});

test("a sound file is left alone and nothing is written", async () => {
  await using dir = await tempDir();
  const file = await dir.write("s-1.jsonl", text);
  expect(await repairTranscript(file)).toMatchObject({ repaired: null, damaged: null, changes: [], entries: 3 });
  expect(await readdir(dir.path)).toEqual(["s-1.jsonl"]);
});

test("twice gives the same file; a file of that name with another content is never overwritten", async () => {
  await using dir = await tempDir();
  const file = await dir.write("s-1.jsonl", `${text}{"torn`);
  const first = await repairTranscript(file);
  expect(await repairTranscript(file)).toEqual(first);
  expect((await repairTranscript(first.repaired ?? "")).repaired).toBeNull();
  await writeFile(join(dir.path, "s-1.repaired.jsonl"), "mine");
  const second = await repairTranscript(file);
  expect(second.repaired).toBe(join(dir.path, "s-1.repaired-2.jsonl"));
  expect(await readFile(join(dir.path, "s-1.repaired.jsonl"), "utf8")).toBe("mine");
});

test("a file that is none of ours is refused, and nothing is written", async () => {
  await using dir = await tempDir();
  const file = await dir.write("notes.txt", "hello\nworld\n");
  await expect(repairTranscript(file)).rejects.toMatchObject({ code: "not_a_transcript" });
  expect(await readdir(dir.path)).toEqual(["notes.txt"]);
});

const anyDamaged = fc.oneof(
  fc.tuple(transcripts, wounds).map(([entries, all]) => wounded(fileOf(entries), all)),
  fc
    .tuple(transcripts, damages, fc.constantFrom("\n" as const, "" as const))
    .map(([entries, all, end]) => damagedFile(entries, all, end)),
);

test("whatever the damage: the result is sound, says to Pi and us what readers made of the damaged file, and repeats", async () => {
  await using dir = await tempDir();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(anyDamaged, async (text) => {
      const file = await dir.write(`r${number++}.jsonl`, text);
      if ((await readFile(file, "utf8")).trim() === "") return;
      const report = await repairTranscript(file).catch(ignoreForeign);
      if (report === undefined) return;
      const sound = report.repaired ?? file;
      const verified = await verifyTranscript(sound);
      deepStrictEqual({ ...verified, openCalls: [] }.ok, true, JSON.stringify(verified));
      // Readers apply an edit to every entry of that id, also to a later one that took the id over; repair binds it to one.
      const isBound = text.includes('"context_edit"') && report.changes.some(({ what }) => what === "id_given");
      if (!isBound) deepStrictEqual(await contextOf(sound), await wholeContextOf(file));
      deepStrictEqual((await contextOfTranscript(sound)).messages, (await piContext(sound)).messages);
      const [was, is] = [await treeOfTranscript(file), await treeOfTranscript(sound)];
      deepStrictEqual(parentsIn(is.nodes).slice(0, was.nodes.length), parentsIn(was.nodes));
    }),
    { numRuns: 80 },
  );
}, 20_000);

/** The place of each entry's parent in the file; of several entries with its id: the nearest before. */
function parentsIn(nodes: readonly { readonly id: string; readonly parentId: string | null }[]): number[] {
  const places = new Map<string | null, number>([[null, -1]]);
  return nodes.map(({ id, parentId }, index) => {
    const parent = places.get(parentId) ?? -2;
    places.set(id, index);
    return parent;
  });
}

/** Damage that leaves no entry and no header at all leaves nothing to repair. */
function ignoreForeign(error: unknown): undefined {
  expect(error).toMatchObject({ code: "not_a_transcript" });
}
