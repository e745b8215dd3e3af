/** The way back, step by step: what each line from the end makes it answer. */
import { expect, test } from "vitest";
import { type Entry, encodeEntry } from "../../src/entry.ts";
import { RawLine } from "../../src/reading/lines.ts";
import { Walk, type WalkOptions } from "../../src/reading/walk.ts";
import { answer, compaction, custom, make, user } from "../support/make.ts";

function steps(newestFirst: readonly (Entry | string | null)[], options: WalkOptions = {}): string[] {
  const walk = new Walk(options);
  const answers = newestFirst.map((line) => {
    const bytes = line === null ? null : Buffer.from(typeof line === "string" ? line : encodeEntry(line));
    return walk.step(new RawLine(1, bytes?.length ?? 9, true, bytes));
  });
  return [...answers, walk.end(), walk.found.map((entry) => entry.id).join("<")];
}

const u = user("u", "z", "x");
const a = answer("a", "u", "y");

test.each<[string, readonly (Entry | string | null)[], WalkOptions, readonly string[]]>([
  ["nothing", [], {}, ["done", ""]],
  ["damage, blanks and lines too long are passed over", ["{", "", null, a], {}, ["on", "on", "on", "on", "whole", "a"]],
  ["other branches are passed over", [a, answer("b", "u", "z"), u], {}, ["on", "on", "on", "whole", "a<u"]],
  ["a root ends it", [a, user("u", null, "x")], {}, ["on", "done", "whole", "a<u"]],
  ["the kept entry ends it", [compaction("k", "a", "u"), a, u], {}, ["on", "on", "done", "whole", "k<a<u"]],
  ["a leaf alone waits for its parent", [compaction("k", "a", "k"), a], {}, ["on", "done", "whole", "k"]],
  [
    "a root alone waits for the beginning",
    [user("u", null, "x"), answer("b", "q", "x")],
    {},
    ["on", "on", "done", "u"],
  ],
  ["an entry without an id needs the whole", ['{"type":"x"}'], {}, ["whole", "done", ""]],
  ["an entry without a parent field too", ['{"type":"x","id":"a"}'], {}, ["whole", "done", ""]],
  ["a repeated id too", [a, a], {}, ["on", "whole", "whole", "a"]],
  [
    "a larger number before a smaller too",
    [user("v", "u", "x", { g: 1 }), user("u", "z", "x", { g: 2 })],
    {},
    ["on", "whole", "whole", "v"],
  ],
  [
    "a late entry sends to where it returns",
    [user("l", "q", "x", { returnTo: "a" }), u, a],
    {},
    ["on", "on", "on", "whole", "a"],
  ],
  ["a given leaf is looked for", [a, u], { leaf: "u" }, ["on", "on", "whole", "u"]],
  [
    "settings are looked for above the context",
    [
      compaction("k", "a", "a"),
      a,
      custom("c", "q", "x"),
      u,
      make("thinking_level_change", "z", "y", { thinkingLevel: "low" }),
    ],
    { settings: true },
    ["on", "on", "on", "on", "done", "whole", "k<a"],
  ],
])("%s", (_, lines, options, expected) => {
  expect(steps(lines, options)).toEqual(expected);
});

test("settings are told only when they were asked for", () => {
  const line = Buffer.from(encodeEntry(make("model_change", "m", null, { provider: "p", modelId: "n" })));
  const asked = new Walk({ settings: true });
  asked.step(new RawLine(0, line.length, true, line));
  expect(asked.settings).toEqual({ model: { provider: "p", modelId: "n" }, thinkingLevel: null });
  const unasked = new Walk({});
  unasked.step(new RawLine(0, line.length, true, line));
  expect(unasked.settings).toBe(null);
});
