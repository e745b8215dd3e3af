/** What others added, classified: each kind, and that the gravest wins. */
import { expect, test } from "vitest";
import { classify } from "../src/changes.ts";
import type { Entry } from "../src/entry.ts";
import { answer, compaction, custom, make, message, user } from "./support/make.ts";

const known = { leaf: "z", t: 4 };
const row = (text: string, fields = {}): Entry =>
  message("n", "z", { role: "assistant", content: [{ type: "text", text }], ...fields });
const turn = (t: unknown): Entry => custom("n", "z", "holdfast:turn", { t, event: "begin" });

test.each<[string, readonly Entry[], string]>([
  ["nothing", [], "none"],
  ["a label", [make("label", "n", "z", { targetId: "z", label: "x" })], "harmless"],
  [
    "usage, name, settings, state, a type of the future",
    [
      make("usage", "a", "z"),
      make("session_info", "b", "a", { name: "n" }),
      make("model_change", "c", "b"),
      custom("d", "c", "x"),
      make("later", "e", "d"),
    ],
    "harmless",
  ],
  ["a mirrored reply", [row("text", { provider: "openclaw", model: "delivery-mirror" })], "harmless"],
  ["an injected notice", [row("text", { provider: "openclaw", model: "gateway-injected" })], "harmless"],
  ["a heartbeat's acknowledgement", [row("HEARTBEAT_OK.")], "harmless"],
  ["an answer that mentions it", [row("The word is HEARTBEAT_OK and more")], "turn"],
  ["an answer without content", [message("n", "z", { role: "assistant", content: null })], "turn"],
  ["an answer of OpenClaw's own", [row("text", { provider: "openclaw", model: "other" })], "turn"],
  ["a user's message", [user("n", "z", "x")], "turn"],
  ["a custom message", [make("custom_message", "n", "z", { customType: "x", content: "y" })], "turn"],
  ["an edit", [make("context_edit", "n", "z", { targetId: "z", replacement: null })], "turn"],
  ["a compaction", [user("m", "z", "x"), compaction("n", "m", "z")], "compacted"],
  ["the leaf was moved", [custom("n", "y", "holdfast:leaf", { from: "z" })], "branch"],
  ["a message on another branch", [user("n", "y", "x")], "branch"],
  ["a new root", [user("n", null, "x")], "branch"],
  [
    "a late entry with its way back",
    [user("m", "y", "x"), custom("n", "z", "holdfast:leaf", { from: "m" })],
    "harmless",
  ],
  ["put away", [custom("n", "z", "holdfast:closed", { reason: "reset" })], "gone"],
  ["put away on another branch", [custom("m", "y", "holdfast:closed"), custom("n", "z", "holdfast:leaf")], "gone"],
  ["a newer turn", [turn(5)], "stale_turn"],
  ["our own turn's number", [turn(4)], "harmless"],
  ["a turn without a number", [turn("x")], "harmless"],
  ["a turn whose number is in the entry only", [custom("n", "z", "holdfast:turn", null, { t: 9 })], "stale_turn"],
  ["a newer turn on a branch", [custom("n", "y", "holdfast:turn", { t: 5 })], "stale_turn"],
  ["a circle", [user("m", "n", "x"), answer("n", "m", "y")], "branch"],
])("%s", (_, added, expected) => {
  expect(classify(known, added, added.at(-1)?.id ?? "z")).toBe(expected);
});

test("without a turn right a newer turn is no concern", () => {
  expect(classify({ leaf: "z", t: null }, [turn(5)], "n")).toBe("harmless");
});

test("the first entries of an empty log are on its path", () => {
  expect(classify({ leaf: null, t: null }, [user("n", null, "x")], "n")).toBe("turn");
});

test("a log whose leaf is nowhere is a branch", () => {
  expect(classify(known, [user("n", "z", "x")], null)).toBe("branch");
});
