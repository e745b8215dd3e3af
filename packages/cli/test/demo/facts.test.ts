/** Reading the facts out of a transcript, whoever wrote it. */
import { expect, test } from "vitest";
import { factsOf } from "../../src/demo/facts.ts";

const call = { type: "toolCall", id: "c1", name: "write", arguments: {} };
const answer = { type: "message", id: "a1", message: { role: "assistant", content: [call] } };
const intent = { type: "custom", customType: "holdfast:intent", data: { entryId: "a1" } };
const verdict = {
  type: "custom",
  customType: "holdfast:verdict",
  data: { verdict: "happened", evidence: { sha256: "x" } },
};
const result = {
  type: "message",
  id: "r1",
  call: { entryId: "a1", ordinal: 0 },
  message: { role: "toolResult", content: [{ type: "text", text: "done" }] },
};
const last = { type: "message", id: "a2", message: { role: "assistant", content: [{ type: "text", text: "Saved." }] } };

function textOf(...lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

test("before the kill: an intent and no result", () => {
  expect(factsOf(textOf(answer, intent))).toEqual({
    intents: 1,
    results: 0,
    verdict: null,
    evidence: null,
    result: "",
    answers: [],
  });
});

test("after it: one result, the verdict with its evidence, the answer", () => {
  const facts = factsOf(`${textOf(answer, intent, verdict, result, last)}{"torn`);
  expect(facts).toEqual({
    intents: 1,
    results: 1,
    verdict: "happened",
    evidence: { sha256: "x" },
    result: "done",
    answers: ["Saved."],
  });
});

test("only the last write counts; an empty text has no facts", () => {
  const earlier = { ...answer, id: "a0" };
  const refused = { ...result, call: { entryId: "a0", ordinal: 0 } };
  expect(factsOf(textOf(earlier, refused, answer)).results).toBe(0);
  expect(factsOf("")).toEqual({ intents: 0, results: 0, verdict: null, evidence: null, result: "", answers: [] });
});
