/** Reading a file whole: every byte accounted for, old versions linear, entries read again as they were. */
import { expect, test } from "vitest";
import { memorySource } from "../../src/reading/source.ts";
import { readWhole, sameEntry } from "../../src/reading/whole.ts";
import { answer, custom, fileOf, HEADER, user } from "../support/make.ts";

test("entries are named by line where they have no id, and follow each other", async () => {
  const lines = [
    { type: "message", message: { role: "user", content: "x" } },
    "",
    { type: "custom", customType: "c", parentId: null },
    { type: "custom", customType: "c", parentId: 7 },
  ];
  const text = [HEADER, ...lines].map((line) => `${line === "" ? "" : JSON.stringify(line)}\n`).join("");
  const whole = await readWhole(memorySource(text));
  expect(whole.tree.nodes.map((ref, index) => [ref.id, whole.tree.parentOf(index)])).toEqual([
    ["line-2", -1],
    ["line-4", -1],
    ["line-5", 1],
  ]);
  expect(whole.report.gaps).toMatchObject([{ id: "line-5", parentId: "", bridgedTo: "line-4", line: 5 }]);
  expect(await whole.read(whole.tree.nodes[0]!)).toMatchObject({ id: "line-2", parentId: null });
  expect(whole.lines).toBe(5);
});

test("version 1 is linear, whatever ids it carries", async () => {
  const entries = [user("a", null, "x"), answer("b", null, "y")];
  const whole = await readWhole(memorySource(fileOf(entries, { type: "session", id: "s" })));
  expect(whole.tree.pathTo(whole.leaf).map((ref) => ref.id)).toEqual(["line-2", "line-3"]);
  expect(await whole.read(whole.tree.nodes[1]!)).toMatchObject({ id: "line-3", parentId: "line-2" });
  expect(whole.report.damaged).toEqual([]);
});

test("visits each entry of the tree once, in file order", async () => {
  const seen: string[] = [];
  const entries = [user("a", null, "x"), user("a", null, "x"), answer("b", "a", "y")];
  await readWhole(memorySource(fileOf(entries)), (entry, index) => seen.push(`${index}:${entry.id}`));
  expect(seen).toEqual(["0:a", "1:b"]);
});

test("a fence without a number fences nothing", async () => {
  const entries = [
    user("a", null, "x", { g: 1 }),
    custom("f", "a", "holdfast:fence", null),
    answer("b", "f", "y", { g: 0 }),
  ];
  const whole = await readWhole(memorySource(fileOf(entries)));
  expect(whole.report.stale).toEqual([]);
});

test("two lines are the same entry when only number and time differ", () => {
  const entry = user("a", null, "x");
  expect(sameEntry(entry, { ...entry, g: 5, timestamp: "other" })).toBe(true);
  expect(sameEntry(entry, { ...entry, t: 5 })).toBe(false);
  expect(sameEntry(entry, user("a", null, "y"))).toBe(false);
});

test("a file that changes while it is read is noticed", async () => {
  const text = fileOf([user("a", null, "x")]);
  let isChanged = false;
  const source = memorySource(text);
  const read = (offset: number, length: number) =>
    isChanged ? Promise.resolve(Buffer.from("?")) : source.read(offset, length);
  const whole = await readWhole({ size: source.size, read });
  isChanged = true;
  await expect(whole.read(whole.tree.nodes[0]!)).rejects.toThrow("changed while read");
});
