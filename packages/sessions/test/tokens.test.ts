/** The guess at tokens: by kind of text, and by kind of content. */
import { expect, test } from "vitest";
import { approximateTextTokens, approximateTokens } from "../src/tokens.ts";

test.each<[string, number]>([
  ["", 0],
  ["abcd", 1],
  ["abcde", 2],
  ["刚才第二项", 5],
  ["かな", 2],
  ["한글", 2],
  ["，。", 2],
  ["𠀀", 1],
  ["刚才abcd", 3],
])("%j", (text, tokens) => expect(approximateTextTokens(text)).toBe(tokens));

test.each<[string, { role: string; [field: string]: unknown }, number]>([
  ["a text", { role: "user", content: "abcd" }, 1],
  [
    "blocks",
    {
      role: "user",
      content: [
        { type: "text", text: "abcd" },
        { type: "thinking", thinking: "abcd" },
      ],
    },
    2,
  ],
  ["an image", { role: "user", content: [{ type: "image", data: "x".repeat(10_000), mimeType: "image/png" }] }, 1200],
  ["a call", { role: "assistant", content: [{ type: "toolCall", id: "t", name: "ab", arguments: { a: 1 } }] }, 3],
  ["a call without arguments", { role: "assistant", content: [{ type: "toolCall", id: "t", name: "ab" }] }, 2],
  ["a summary", { role: "compactionSummary", summary: "abcd" }, 1],
  ["a command and its output", { role: "bashExecution", command: "abcd", output: "abcd" }, 2],
  ["nothing", { role: "user" }, 0],
  ["odd blocks", { role: "user", content: [7, { type: "other" }] }, 0],
])("%s", (_, message, tokens) => expect(approximateTokens(message)).toBe(tokens));
