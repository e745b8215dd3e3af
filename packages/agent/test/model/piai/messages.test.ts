/** What the library is given for messages of every role, ours and other programs'. */
import { expect, test } from "vitest";
import { piContext } from "../../../src/model/piai/messages.ts";
import { request } from "../../support/requests.ts";

const text = (content: string) => [{ type: "text", text: content }];

test("our roles keep their shape and get what the library insists on", () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
  const { messages } = piContext(
    request([
      { role: "user", content: "plain", timestamp: 5, key: "web:a:b:1" },
      { role: "user", content: [{ type: "text", text: "look" }, image] },
      {
        role: "assistant",
        content: [{ type: "text", text: "ok" }],
        provider: "p",
        model: "m",
        api: "a",
        stopReason: "stop",
      },
      {
        role: "toolResult",
        toolCallId: "c",
        toolName: "read",
        content: [image],
        isError: true,
        details: { secret: 1 },
      },
    ]),
  );
  expect(messages).toMatchObject([
    { role: "user", content: "plain", timestamp: 5 },
    { role: "user", content: [{ type: "text", text: "look" }, image], timestamp: 0 },
    { role: "assistant", provider: "p", model: "m", api: "a", stopReason: "stop", usage: { totalTokens: 0 } },
    { role: "toolResult", toolCallId: "c", toolName: "read", content: [image], isError: true },
  ]);
  expect(JSON.stringify(messages)).not.toMatch(/secret|web:a:b:1/);
});

test.each([
  [{ role: "custom", customType: "x", content: "note", display: true }, "note"],
  [{ role: "custom", customType: "x", content: text("note"), display: true }, "note"],
  [{ role: "system", content: "rule" }, "rule"],
  [{ role: "bashExecution", command: "ls", output: "a\n", exitCode: 2 }, "Ran ls\na\n\nexit code 2"],
  [{ role: "bashExecution", command: "ls", output: "" }, "Ran ls\n(no output)"],
])("%j becomes a user message", (message, content) => {
  expect(piContext(request([message])).messages).toEqual([{ role: "user", content, timestamp: 0 }]);
});

test("summaries are marked as what they are", () => {
  for (const role of ["compactionSummary", "branchSummary"]) {
    const [message] = piContext(request([{ role, summary: "what was said" }])).messages;
    expect(message?.role).toBe("user");
    expect(JSON.stringify(message)).toMatch(/<summary>\\nwhat was said\\n<\/summary>/);
  }
});

test.each([
  { role: "bashExecution", command: "ls", output: "a", excludeFromContext: true },
  { role: "unheard-of", payload: 1 },
  { role: "custom", content: [{ type: "strange" }, 7] },
])("%j says nothing to a model", (message) => {
  expect(piContext(request([message])).messages).toEqual([]);
});
