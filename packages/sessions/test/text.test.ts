/** Excerpts: one line, short, whole characters, from whatever an entry says. */
import { expect, test } from "vitest";
import { excerptOf } from "../src/text.ts";
import { answer, call, compaction, custom, make, message, user } from "./support/make.ts";

test.each([
  [user("a", null, " x\n\ty "), "x y"],
  [message("a", null, { role: "user", content: "plain" }), "plain"],
  [message("a", null, { role: "user", content: null }), ""],
  [message("a", null, { role: "user", content: [{ type: "image" }, { type: "text", text: "b" }] }), "[image] b"],
  [message("a", null, { role: "user", content: [{ type: "other" }] }), ""],
  [message("a", null, { role: "bashExecution", command: "ls" }), "ls"],
  [call("a", null, ["t"]), "[read]"],
  [compaction("k", null, "k"), "summary k"],
  [custom("c", null, "holdfast:leaf"), "holdfast:leaf"],
  [make("custom_message", "c", null, { customType: "x", content: [7, { type: "text", text: "t" }] }), "t"],
  [make("label", "l", null, { label: "here", targetId: "a" }), "here"],
  [make("unknown", "l", null), ""],
  [answer("a", null, "\u001b[31mred\u0007"), "[31mred"],
])("%#", (entry, text) => expect(excerptOf(entry)).toBe(text));

test("a long text is cut between characters", () => {
  const text = excerptOf(user("a", null, "🚀".repeat(600)));
  expect(text).toBe(`${"🚀".repeat(119)}…`);
  expect(excerptOf(user("a", null, `${"x".repeat(999)}🚀`)).isWellFormed()).toBe(true);
});
