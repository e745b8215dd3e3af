/** The first line, and what older versions mean. */
import { expect, test } from "vitest";
import { readHeader, upgraded } from "../../src/reading/header.ts";
import { memorySource } from "../../src/reading/source.ts";
import { fileOf, HEADER, make, message, user } from "../support/make.ts";

test.each<[string, string, string, number]>([
  ["version 3", fileOf([]), "ok", 3],
  ["version 1, which does not say so", fileOf([], { type: "session", id: "s" }), "ok", 1],
  ["version 2", fileOf([], { ...HEADER, version: 2 }), "ok", 2],
  ["a version to come", fileOf([], { ...HEADER, version: 9 }), "ok", 9],
  ["blank lines before it", `\n\r\n${fileOf([])}`, "ok", 3],
  ["without a line end", JSON.stringify(HEADER), "ok", 3],
  ["longer than one small read", fileOf([], { ...HEADER, cwd: "x".repeat(10_000) }), "ok", 3],
  ["no id", fileOf([], { type: "session", version: 3 }), "damaged", 3],
  ["torn", '{"type":"sess\n', "damaged", 3],
  ["an entry first", fileOf([], user("u", null, "x")), "missing", 3],
  ["nothing", "", "missing", 3],
  ["only blank lines", "\n\n", "missing", 3],
])("%s", async (_, text, state, version) => {
  expect(await readHeader(memorySource(text))).toMatchObject({ state, version });
});

test("old fields get their present names, all else stays", () => {
  const old = { summary: "s", tokensBefore: 1, firstKeptEntryIndex: 1, more: 1 };
  const upgradedOld = upgraded(make("compaction", "k", null, old), 1, ["", "line-2"]);
  expect(upgradedOld).toMatchObject({ firstKeptEntryId: "line-2", more: 1 });
  expect(upgradedOld).not.toHaveProperty("firstKeptEntryIndex");
  expect(upgraded(make("compaction", "k", null, { ...old, firstKeptEntryIndex: 9 }), 1, [])).toMatchObject({
    firstKeptEntryId: "",
  });
  expect(upgraded(make("compaction", "k", null, { ...old, firstKeptEntryIndex: 2 }), 1, ["", "a"])).toMatchObject({
    firstKeptEntryId: "k",
  });
  const hook = message("h", null, { role: "hookMessage", content: "x" });
  expect(upgraded(hook, 2, [])).toMatchObject({ message: { role: "custom", content: "x" } });
  expect(upgraded(hook, 3, [])).toBe(hook);
  const plain = user("u", null, "x");
  expect(upgraded(plain, 1, [])).toBe(plain);
});
