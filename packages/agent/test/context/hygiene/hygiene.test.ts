import type { EntryMessage } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hygienic } from "../../../src/context/hygiene/hygiene.ts";

const user = (text: string): EntryMessage => ({ role: "user", content: [{ type: "text", text }] });
const says = (text: string): EntryMessage => ({ role: "assistant", content: [{ type: "text", text }] });
const calls = (...ids: readonly string[]): EntryMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "write", arguments: {} })),
});
const result = (id: string, text = `did ${id}`): EntryMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "write",
  content: [{ type: "text", text }],
  isError: false,
});

/** Roles, calls and results in one line. */
function brief(messages: readonly EntryMessage[]): string {
  return messages
    .map((message) => ("toolCallId" in message ? `result ${message.toolCallId}` : message.role))
    .join(", ");
}

describe("pairing", () => {
  test.each([
    [
      "in order",
      [user("a"), calls("1", "2"), result("1"), result("2"), says("b")],
      "user, assistant, result 1, result 2, assistant",
    ],
    ["results out of order", [calls("1", "2"), result("2"), result("1")], "assistant, result 1, result 2"],
    ["something in between", [calls("1"), user("x"), result("1")], "assistant, result 1, user"],
    ["an orphan goes", [user("a"), result("9"), says("b")], "user, assistant"],
    ["a doubled result goes", [calls("1"), result("1"), result("1")], "assistant, result 1"],
    [
      "an id used again",
      [calls("1"), result("1", "first"), calls("1"), result("1", "second")],
      "assistant, result 1, assistant, result 1_2",
    ],
  ] as const)("%s", (_name, messages, expected) => expect(brief(hygienic(messages))).toBe(expected));

  test("an id used again keeps each answer's own result", () => {
    const clean = hygienic([calls("1"), result("1", "first"), calls("1"), result("1", "second")]);
    expect(clean.flatMap((message) => ("toolCallId" in message ? [message.content] : []))).toEqual([
      [{ type: "text", text: "first" }],
      [{ type: "text", text: "second" }],
    ]);
  });

  test("a missing result is supplied as an error that claims nothing", () => {
    const [, supplied] = hygienic([calls("1"), user("next")]);
    expect(supplied).toMatchObject({ role: "toolResult", toolCallId: "1", isError: true });
    expect(JSON.stringify(supplied)).toMatch(/does not say that it failed/);
  });
});

describe("content", () => {
  test("errored answers lose their calls, and go when nothing is left", () => {
    const broken = { ...calls("1"), stopReason: "error" } as EntryMessage;
    const partly = {
      role: "assistant",
      content: [
        { type: "text", text: "so far" },
        { type: "toolCall", id: "2", name: "w", arguments: {} },
      ],
      stopReason: "aborted",
    };
    expect(hygienic([user("a"), broken, partly])).toEqual([
      user("a"),
      { ...partly, content: [{ type: "text", text: "so far" }], stopReason: "stop" },
    ]);
  });

  test("empty blocks go; a user message is never empty", () => {
    const clean = hygienic([
      user(" "),
      { role: "user", content: "" },
      { role: "assistant", content: [{ type: "text", text: "" }] },
    ]);
    expect(clean).toEqual([
      { role: "user", content: "(nothing)" },
      { role: "user", content: "(nothing)" },
    ]);
  });

  test("an empty result says so; a signed thought stays", () => {
    const thought = { type: "thinking", thinking: "", thinkingSignature: "s" } as const;
    const asked = { role: "assistant", content: [thought, { type: "toolCall", id: "1", name: "w", arguments: {} }] };
    const clean = hygienic([asked, { ...result("1"), content: [] } as EntryMessage]);
    expect(clean[0]).toEqual(asked);
    expect(clean[1]).toMatchObject({ content: [{ text: "(nothing)" }] });
  });

  test("half characters are replaced at any depth, whole ones are not", () => {
    const asked = {
      role: "assistant",
      content: [{ type: "toolCall", id: "1", name: "w", arguments: { "k\ud800": ["😀", "\udc00"] } }],
    };
    const [clean] = hygienic([asked, result("1")]);
    expect(clean).toMatchObject({ content: [{ arguments: { "k\ufffd": ["😀", "\ufffd"] } }] });
  });

  test("what needs no change is passed on, other roles included; nothing is changed in place", () => {
    const messages = [user("a"), says("b"), { role: "custom", content: "c", display: true }, calls("1"), result("1")];
    const before = structuredClone(messages);
    const clean = hygienic(messages);
    expect(clean).toEqual(before);
    expect(clean.every((message, index) => message === messages[index])).toBe(true);
  });
});

test("whatever comes in, every call has one result right behind it, and cleaning twice changes nothing", () => {
  const id = fc.constantFrom("1", "2", "3");
  const message = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }).map(user),
    fc.string({ unit: "binary", maxLength: 6 }).map(says),
    fc.array(id, { maxLength: 3 }).map((ids) => calls(...new Set(ids))),
    id.map((one) => result(one)),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
      const clean = hygienic(messages);
      const expected: string[] = [];
      for (const one of clean) {
        if (one.role === "assistant")
          expected.push(
            ...(one.content as readonly { type: string; id: string }[]).flatMap((block) =>
              block.type === "toolCall" ? [block.id] : [],
            ),
          );
        else if ("toolCallId" in one) expect(one.toolCallId).toBe(expected.shift());
        else expect(expected).toEqual([]);
      }
      expect(expected).toEqual([]);
      expect(hygienic(clean)).toEqual(clean);
    }),
  );
});
