/** Bad entries: a table of what `append` refuses, each with its reason. */
import { LIMITS } from "@holdfast/base";
import { expect, test } from "vitest";
import type { NewEntry } from "../src/entry.ts";
import { takeNewEntry } from "../src/flaws.ts";

const good: NewEntry = { type: "message", message: { role: "user", content: "x" } };
const circle: Record<string, unknown> = { type: "custom", customType: "c" };
circle.data = circle;
let deep: unknown = "x";
for (let depth = 0; depth < 200_000; depth++) deep = [deep];

test.each<[string, unknown, string]>([
  ["nothing", null, "not an object"],
  ["a list", [], "not an object"],
  ["no type", { id: "a" }, "no type"],
  ["an odd type", { type: "a b" }, "no type"],
  ["a header", { type: "session" }, "header"],
  ["g", { ...good, g: 1 }, "set by the store"],
  ["t", { ...good, t: 1 }, "set by the store"],
  ["an empty id", { ...good, id: "" }, "id is not"],
  ["an id with a quote", { ...good, id: 'a"b' }, "id is not"],
  ["an id with a space", { ...good, id: "a b" }, "id is not"],
  ["a long id", { ...good, id: "x".repeat(129) }, "id is not"],
  ["an id that stands for a line", { ...good, id: "line-7" }, "id is not"],
  ["a parent that is no id", { ...good, parentId: 7 }, "parentId"],
  ["an empty parent", { ...good, parentId: "" }, "parentId"],
  ["a bad time", { ...good, timestamp: "yesterday" }, "timestamp"],
  ["answers", { ...good, answers: "x" }, "answers"],
  ["answers of numbers", { ...good, answers: [1] }, "answers"],
  ["seen", { ...good, seen: 1 }, "seen"],
  ["returnTo", { ...good, returnTo: "a" }, "set by the store"],
  ["a fence", { type: "custom", customType: "holdfast:fence", data: { g: 1e15 } }, "written by the store"],
  ["a closing", { type: "custom", customType: "holdfast:closed", data: {} }, "written by the store"],
  ["an opening", { type: "custom", customType: "holdfast:opened", data: {} }, "written by the store"],
  ["another session's name", { type: "custom", customType: "holdfast:session", data: {} }, "written by the store"],
  ["call", { ...good, call: { entryId: "a" } }, "call"],
  ["call as text", { ...good, call: "a" }, "call"],
  ["a message without a role", { type: "message", message: {} }, "role"],
  ["a message that is none", { type: "message" }, "role"],
  ["wrong content", { type: "message", message: { role: "user", content: 7 } }, "content"],
  ["content of texts", { type: "message", message: { role: "user", content: ["x"] } }, "content"],
  ["a compaction without its kept entry", { type: "compaction", summary: "s" }, "firstKeptEntryId"],
  ["a label without a target", { type: "label" }, "targetId"],
  ["a custom entry without its type", { type: "custom" }, "customType"],
  ["an edit without replacement", { type: "context_edit", targetId: "a", replacement: {} }, "replacement"],
  ["a custom message of numbers", { type: "custom_message", customType: "c", content: [1] }, "content"],
  ["a circle", circle, "not JSON"],
  ["a bigint", { ...good, data: 1n }, "not JSON"],
  ["too deep for JSON", { ...good, data: deep }, "not JSON"],
  ["a function", { ...good, data: { f: () => 1 } }, "function"],
  ["a symbol", { ...good, data: [Symbol("x")] }, "symbol"],
  ["not a number", { ...good, data: Number.NaN }, "finite"],
  ["a map", { ...good, data: new Map() }, "plain"],
  ["a date", { ...good, data: new Date(0) }, "plain"],
  ["too large", { ...good, data: "x".repeat(LIMITS.entryBytesMax) }, "more than"],
])("%s is refused", (_, entry, reason) => {
  expect(() => takeNewEntry(entry as NewEntry)).toThrow(
    expect.objectContaining({ code: "bad_entry", message: expect.stringContaining(reason) }),
  );
});

test.each<[string, NewEntry]>([
  ["a message", good],
  [
    "all fields",
    {
      ...good,
      id: "a-1",
      parentId: null,
      timestamp: "2026-01-01T00:00:00Z",
      answers: ["x"],
      seen: "y",
      call: { entryId: "a", ordinal: 0 },
    },
  ],
  ["content that is null", { type: "message", message: { role: "assistant", content: null } }],
  ["an unknown type", { type: "holdfast.future-1", anything: { nested: [1, null, "x"] } }],
  ["an undefined field", { ...good, details: undefined }],
  ["an object without a prototype", { ...good, data: Object.assign(Object.create(null), { a: 1 }) }],
  ["an edit that removes", { type: "context_edit", targetId: "a", replacement: null }],
])("%s passes", (_, entry) => expect(() => takeNewEntry(entry)).not.toThrow());
