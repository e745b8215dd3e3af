/** Peeking: it agrees with parsing wherever it answers, and answers for what we and Pi write. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseLine } from "../../src/entry.ts";
import { peek } from "../../src/reading/peek.ts";
import { custom, HEADER, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

const of = (value: unknown) => peek(Buffer.from(JSON.stringify(value)));

test("messages as Pi writes them", () => {
  expect(of(user("a", null, "x"))).toEqual({ type: "message", id: "a", parentId: null, g: null });
  expect(of(user("b", "a", "x".repeat(5000)))).toEqual({ type: "message", id: "b", parentId: "a", g: null });
});

test.each<[string, unknown]>([
  ["a header", HEADER],
  ["fields in another order", { id: "a", type: "message", parentId: null, timestamp: "t" }],
  ["an id with an escape", { ...user('a"b', null, "x") }],
  ["no parent", { type: "message", id: "a", timestamp: "t" }],
  ["g somewhere behind", custom("a", null, "x", {}, { g: 3 })],
  ["no object", [1]],
])("no answer: %s", (_, value) => expect(of(value)).toBe(null));

test("where it answers it says what parsing says", () => {
  fc.assert(
    fc.property(transcripts, (entries) => {
      for (const entry of entries) {
        const line = Buffer.from(JSON.stringify(entry));
        const seen = peek(line);
        const parsed = parseLine(line);
        if (seen === null || parsed.kind !== "entry") continue;
        const { type, id, parentId, g } = parsed.entry;
        expect(seen).toEqual({ type, id, parentId, g: g ?? null });
      }
    }),
    { seed: 8 },
  );
});
