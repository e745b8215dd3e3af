/** Reading from the end: how much is read, and that damage never makes it differ from reading the whole file. */
import { isObject, tryParse } from "@holdfast/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, encodeEntry, identify } from "../../src/entry.ts";
import { contextStart, project } from "../../src/projection.ts";
import { type ByteSource, memorySource } from "../../src/reading/source.ts";
import { extendPath, readTail } from "../../src/reading/tail.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { answer, compaction, custom, fileOf, HEADER, make, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

const ids = (path: readonly Entry[]): string[] => path.map((entry) => entry.id);

async function wholePath(text: string): Promise<Entry[]> {
  const whole = await readWhole(memorySource(text));
  return Promise.all(whole.tree.pathTo(whole.leaf).map((ref) => whole.read(ref)));
}

/** Ways in which lines of a file go wrong. */
const damages = fc.array(
  fc.record({
    at: fc.nat({ max: 60 }),
    to: fc.nat({ max: 60 }),
    how: fc.constantFrom(
      "delete",
      "repeat",
      "move",
      "garbage",
      "cut",
      "link",
      "g",
      "fence",
      "rename",
      "noid",
      "noparent",
    ),
  }),
  { maxLength: 4 },
);

const linkOf = (fields: Record<string, unknown>): string | null =>
  typeof fields.parentId === "string" ? fields.parentId : null;

function damage(entries: readonly Entry[], all: readonly { at: number; to: number; how: string }[]): string {
  const lines: string[] = [JSON.stringify(HEADER), ...entries.map((entry) => JSON.stringify(entry))];
  for (const { at, to, how } of all) {
    const index = 1 + (at % lines.length);
    const line = lines[index];
    const other = 1 + (to % lines.length);
    if (line === undefined) continue;
    const parsed = tryParse(line);
    const fields: Record<string, unknown> = isObject(parsed) ? parsed : {};
    if (how === "delete") lines.splice(index, 1);
    // A writer that tries again repeats a line further down.
    if (how === "repeat") lines.splice(Math.max(other, index + 1), 0, line);
    if (how === "move") lines.splice(other, 0, ...lines.splice(index, 1));
    if (how === "garbage") lines.splice(other, 0, "\0\0\0", "", "not json", "[1]");
    if (how === "cut") lines[index] = line.slice(0, Math.ceil(line.length / 2)) + (lines[index + 1] ?? "");
    if (how === "link") lines[index] = JSON.stringify({ ...fields, parentId: `e${to}` });
    if (how === "g" && typeof fields.id === "string")
      lines[index] = encodeEntry(identify({ ...fields, g: to }, fields.id, linkOf(fields)));
    if (how === "fence")
      lines.splice(index, 0, encodeEntry(custom(`f${to}`, null, "holdfast:fence", { g: to }, { g: to })));
    if (how === "rename") lines[index] = JSON.stringify({ ...fields, id: `e${to}` });
    if (how === "noid") lines[index] = JSON.stringify({ ...fields, id: undefined });
    if (how === "noparent") lines[index] = JSON.stringify({ ...fields, parentId: undefined });
  }
  return lines.map((line) => `${line}\n`).join("");
}

test("on damaged files the tail never differs from the whole", async () => {
  await fc.assert(
    fc.asyncProperty(transcripts, damages, async (entries, all) => {
      const text = damage(entries, all);
      const loaded = await readTail(memorySource(text), { settings: true });
      const path = await wholePath(text);
      const expected = project(path, { whole: true });
      const found = project(loaded.path, loaded);
      expect(found.messages).toEqual(expected.messages);
      expect(found.entryIds).toEqual(expected.entryIds);
      expect([found.model, found.thinkingLevel]).toEqual([expected.model, expected.thinkingLevel]);
      expect(found.report.leaf).toBe(expected.report.leaf);
    }),
    { numRuns: 1500, seed: 20260107 },
  );
});

describe("how far it reads", () => {
  const text = "x".repeat(1000);
  const old = Array.from({ length: 3000 }, (_, index) => user(`o${index}`, index === 0 ? null : `o${index - 1}`, text));
  const recent = [compaction("k", "o2999", "o2990"), user("u", "k", "new"), answer("a", "u", "neu")];

  function counted(source: ByteSource): ByteSource & { bytes: number } {
    const counting = {
      size: source.size,
      bytes: 0,
      read(offset: number, length: number) {
        counting.bytes += length;
        return source.read(offset, length);
      },
    };
    return counting;
  }

  test("to the first kept entry, whatever lies before", async () => {
    const source = counted(memorySource(fileOf([...old, ...recent])));
    const loaded = await readTail(source);
    expect(ids(loaded.path)).toEqual([...old.slice(2990).map((entry) => entry.id), "k", "u", "a"]);
    expect(loaded).toMatchObject({ whole: false, earlier: null, version: 3, header: { id: "s-1" } });
    expect(loaded.report).toMatchObject({ partial: true, header: "ok", entriesRead: 13, damaged: [] });
    expect(source.bytes).toBeLessThan(300_000);
    expect(project(loaded.path, loaded).thinkingLevel).toBe(null);
  });

  test("to the settings, when they are asked for, keeping only them", async () => {
    const thinking = make("thinking_level_change", "th", null, { thinkingLevel: "high" });
    const [first, ...rest] = old;
    const file = fileOf([thinking, { ...first, parentId: "th" }, ...rest, ...recent]);
    const loaded = await readTail(memorySource(file), { settings: true });
    expect(loaded.path.length).toBe(13);
    expect(loaded.earlier).toMatchObject({ thinkingLevel: "high" });
    expect(project(loaded.path, loaded).thinkingLevel).toBe("high");
  });

  test("past other branches without parsing them", async () => {
    const branches = Array.from({ length: 2000 }, (_, index) => answer(`b${index}`, "u0", `branch ${index}`));
    const broken = `{"type":"message","id":"bad","parentId":"u0","timestamp":"t","message":{\n`;
    const file = `${fileOf([user("u0", null, "q"), ...branches])}${broken}${JSON.stringify(answer("last", "u0", "!"))}\n`;
    const loaded = await readTail(memorySource(file));
    expect(ids(loaded.path)).toEqual(["u0", "last"]);
    expect(loaded.report.damaged).toEqual([]);
  });
});

describe("where the conversation stands", () => {
  const trunk = [user("u", null, "q"), answer("a", "u", "1"), answer("b", "u", "2")];
  const late = user("late", "a", "late", { returnTo: "b" });

  test("at the entry to return to, when a crash cut the return line", async () => {
    const loaded = await readTail(memorySource(fileOf([...trunk, late])));
    expect(ids(loaded.path)).toEqual(["u", "b"]);
    const whole = await readWhole(memorySource(fileOf([...trunk, late])));
    expect(whole.cut?.id).toBe("late");
  });
  test("at the late entry, when there is nothing to return to", async () => {
    const loaded = await readTail(memorySource(fileOf([trunk[0], trunk[1], late])));
    expect(ids(loaded.path)).toEqual(["u", "a", "late"]);
  });
  test("where the return line says", async () => {
    const loaded = await readTail(memorySource(fileOf([...trunk, late, custom("h", "b", "holdfast:leaf")])));
    expect(ids(loaded.path)).toEqual(["u", "b", "h"]);
  });
  test("never at a stale line: it was written by somebody who had lost the file", async () => {
    const lines = [
      user("u", null, "q", { g: 1 }),
      custom("f", "u", "holdfast:fence", { g: 3 }, { g: 3 }),
      answer("a", "f", "ours", { g: 3 }),
      answer("s", "u", "stale", { g: 1 }),
    ];
    const loaded = await readTail(memorySource(lines.map((line) => `${encodeEntry(line)}\n`).join("")));
    expect(ids(loaded.path)).toEqual(["u", "f", "a"]);
    expect(loaded.report.stale).toMatchObject([{ id: "s", g: 1 }]);
  });
  test("a leaf that does not exist is refused", async () => {
    await expect(readTail(memorySource(fileOf(trunk)), { leaf: "nobody" })).rejects.toMatchObject({
      code: "entry_missing",
    });
  });
});

describe("growth", () => {
  const start = [user("u", null, "q"), answer("a", "u", "1"), answer("b", "u", "2")];
  const load = () => readTail(memorySource(fileOf(start)));

  test.each<[string, readonly Entry[], readonly string[] | null]>([
    ["nothing", [], ["u", "b"]],
    ["on the leaf", [user("v", "b", "x"), answer("w", "v", "y")], ["u", "b", "v", "w"]],
    ["back on the path", [user("v", "u", "x")], ["u", "v"]],
    ["a new root", [user("v", null, "x")], ["v"]],
    ["on an entry off the path", [user("v", "a", "x")], null],
    ["late, with its return line", [user("v", "a", "x"), custom("h", "b", "holdfast:leaf")], ["u", "b", "h"]],
    ["late, the return line cut off", [user("v", "a", "x", { returnTo: "b" })], ["u", "b"]],
    ["a repeated id", [user("u", "b", "x")], null],
    ["an id repeated within", [user("v", "b", "x"), user("v", "b", "y")], null],
    ["a link to a later entry", [user("v", "w", "x"), answer("w", "v", "y")], null],
    ["a smaller number after a larger", [user("v", "b", "x", { g: 5 }), user("w", "v", "y", { g: 4 })], null],
  ])("%s", async (_, added, expected) => {
    const grown = extendPath(await load(), added);
    expect(grown === null ? null : ids(grown.path)).toEqual(expected);
  });

  test("back before what is loaded has to be read again", async () => {
    const lines = [user("o", null, "old"), user("u", "o", "q"), compaction("k", "u", "u"), user("v", "k", "x")];
    const loaded = await readTail(memorySource(fileOf(lines)));
    expect(loaded.whole).toBe(false);
    expect(extendPath(loaded, [user("w", "u", "back")])).toBe(null);
    expect(contextStart(extendPath(loaded, [user("w", "k", "on")])?.path ?? []).found).toBe(true);
  });

  test("settings of a part that is left, or of another root, are not taken along", async () => {
    const lines = [user("u", null, "q"), answer("a", "u", "sets the model"), user("v", "a", "x")];
    const loaded = await readTail(memorySource(fileOf(lines)), { settings: true });
    expect(loaded.earlier?.model).not.toBe(null);
    expect(extendPath(loaded, [user("w", "u", "beside the answer")])).toBe(null);
    expect(extendPath(loaded, [user("w", null, "anew")])?.earlier).toBe(null);
    expect(extendPath(loaded, [user("w", "v", "on")])?.earlier).toEqual(loaded.earlier);
  });
});
