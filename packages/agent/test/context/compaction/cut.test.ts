/** Where a context is cut: exchanges stay whole, something stays, and what goes is worth a summary. */
import { type EntryMessage, isToolResult, toolCallsOf } from "@holdfast/sessions";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutOf, type Sized } from "../../../src/context/compaction/cut.ts";
import { transcript } from "../../support/transcripts.ts";

const sized = (messages: readonly EntryMessage[], tokens = 100): readonly Sized[] =>
  messages.map((message, at) => ({ message, entryId: `e${at}`, tokens }));
const user = (content: string): EntryMessage => ({ role: "user", content });
const says = (said: string): EntryMessage => ({ role: "assistant", content: [{ type: "text", text: said }] });
const calls = (...ids: readonly string[]): EntryMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
});
const result = (id: string): EntryMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [],
  isError: false,
});

const keep = (keepTokens: number, keepMessages: number | null = null) => ({ keepTokens, keepMessages });

test("the newest part stays, by tokens or by messages", () => {
  const all = sized([user("a"), says("b"), user("c"), says("d"), user("e")]);
  expect(cutOf(all, keep(200))).toEqual({ at: 3, question: null });
  expect(cutOf(all, keep(100))).toEqual({ at: 4, question: null });
  expect(cutOf(all, keep(0, 3))).toEqual({ at: 2, question: null });
});

test("a cut in the middle of an exchange goes before it; one that would remove nothing goes behind it, or is none", () => {
  const exchange = [calls("1", "2"), result("2"), user("still there?"), result("1")];
  expect(cutOf(sized([user("a"), says("b"), ...exchange, says("c")]), keep(250))).toEqual({ at: 2, question: null });
  expect(cutOf(sized([...exchange, says("c"), user("d")]), keep(350))).toEqual({ at: 4, question: null });
  expect(cutOf(sized(exchange), keep(100))).toBeNull();
});

test("an answer that goes on behind the cut names its question", () => {
  const all = sized([user("do much"), calls("1"), result("1"), calls("2"), result("2"), calls("3"), result("3")]);
  expect(cutOf(all, keep(250))).toEqual({ at: 5, question: 0 });
});

test("a summary before is no part that could stay, and alone it is nothing to cut off", () => {
  const summary: EntryMessage = { role: "compactionSummary", summary: "s" };
  expect(cutOf(sized([summary, user("a")]), keep(50))).toBeNull();
  expect(cutOf(sized([summary, user("a"), says("b"), user("c")]), keep(100))).toEqual({ at: 3, question: null });
  expect(cutOf([], keep(0))).toBeNull();
});

test("whatever the conversation, no call is parted from its result", () => {
  fc.assert(
    fc.property(transcript, fc.nat({ max: 1_500 }), (messages, tokens) => {
      const cut = cutOf(sized(messages), keep(tokens));
      if (cut === null) return;
      expect(cut.at).toBeGreaterThan(0);
      expect(cut.at).toBeLessThan(messages.length);
      const [gone, stays] = [messages.slice(0, cut.at), messages.slice(cut.at)];
      // A result that has a call in its own part is whole; ids are used again.
      const called = new Set(gone.flatMap((one) => toolCallsOf(one).map(({ id }) => id)));
      const own = new Set<string>();
      for (const one of stays) {
        for (const { id } of toolCallsOf(one)) own.add(id);
        if (!isToolResult(one) || own.has(one.toolCallId) || !called.has(one.toolCallId)) continue;
        expect(gone.some((other) => isToolResult(other) && other.toolCallId === one.toolCallId)).toBe(true);
      }
    }),
  );
});
