/** What providers refused elsewhere, each by the id of its case, and what each rule does by itself. */
import { type Entry, type EntryMessage, project } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { familyOf, type Target } from "../../../src/context/hygiene/families.ts";
import { hygienic, mend } from "../../../src/context/hygiene/hygiene.ts";
import { PNG, pngOf } from "../../support/transcripts.ts";
import { problemsOf } from "../../support/validators.ts";
import { TARGETS, type WireApi, wireOf } from "../../support/wire.ts";

type Fields = Readonly<Record<string, unknown>>;
const text = (said: string) => ({ type: "text", text: said });
const user = (...content: readonly Fields[]) => ({ role: "user", content }) as unknown as EntryMessage;
const answer = (content: readonly Fields[], by: Fields = {}) =>
  ({ role: "assistant", content, ...by }) as unknown as EntryMessage;
const call = (id: string, more: Fields = {}) => ({ type: "toolCall", id, name: "read", arguments: {}, ...more });
const result = (id: string, ...content: readonly Fields[]) =>
  ({ role: "toolResult", toolCallId: id, toolName: "read", content, isError: false }) as unknown as EntryMessage;
const image = (data: string, mimeType = "image/png") => ({ type: "image", data, mimeType });
const thought = (said: string, signature?: string) => ({
  type: "thinking",
  thinking: said,
  ...(signature === undefined ? {} : { thinkingSignature: signature }),
});

const APIS = Object.keys(TARGETS) as readonly WireApi[];
const { "anthropic-messages": CLAUDE, "openai-responses": GPT, "mistral-conversations": MISTRAL } = TARGETS;
const blocksOf = (message: EntryMessage | undefined) =>
  (Array.isArray(message?.content) ? message.content : []) as readonly Fields[];
const idsIn = (messages: readonly EntryMessage[]) =>
  messages.flatMap((message) =>
    "toolCallId" in message
      ? [message.toolCallId]
      : blocksOf(message).flatMap((block) => (block.type === "toolCall" ? [block.id] : [])),
  );

describe("thoughts", () => {
  const mixed = [
    user(text("hi")),
    answer([thought("p", "reasoning_content"), text("x"), call("t1")], {
      provider: "p",
      model: "p",
      api: "openai-completions",
    }),
    result("t1", text("ok")),
    answer([thought("q"), text("y")], { provider: "q", model: "q", api: "openai-completions" }),
    user(text("go on")),
  ];

  test("B045 reasoning goes back only to the model that made it and only with a real signature; text and calls stay", async () => {
    for (const api of APIS) {
      const sent = hygienic(mixed, TARGETS[api]);
      expect(JSON.stringify(sent)).not.toContain("thinking");
      expect(problemsOf(await wireOf(sent, api), api)).toEqual([]);
      expect(sent.flatMap(blocksOf).filter((block) => block.type === "text")).toEqual(
        expect.arrayContaining([text("x"), text("y"), text("ok")]),
      );
      expect(idsIn(sent)).toHaveLength(2);
    }
    const unsigned = answer([thought("own", "reasoning_content"), text("z")], { ...CLAUDE });
    expect(blocksOf(hygienic([user(text("a")), unsigned, user(text("b"))], CLAUDE)[1])).toEqual([text("z")]);
  });

  test("signed ones stay as they are with their own model, and go when the model changes", () => {
    const own = answer([thought("own", "RXJTaWc="), text("z")], { ...CLAUDE });
    const messages = [user(text("a")), own, user(text("b"))];
    expect(hygienic(messages, CLAUDE)).toEqual(messages);
    expect(blocksOf(hygienic(messages, { ...CLAUDE, model: "claude-opus-4-5" })[1])).toEqual([text("z")]);
  });

  test("two answers that become one keep the thoughts of neither, unless one model gave both", () => {
    const { "google-generative-ai": GEMINI } = TARGETS;
    const own = answer([thought("own", "RXJTaWc="), text("x")], { ...GEMINI });
    const others = answer([text("y")], { ...CLAUDE });
    const sent = (...answers: readonly EntryMessage[]) =>
      blocksOf(hygienic([user(text("a")), ...answers, user(text("b"))], GEMINI)[1]);
    expect(sent(own, others)).toEqual([text("x"), text("y")]);
    expect(sent(own, own)).toHaveLength(4);
  });

  test("B050 a reasoning item goes with what it led to, and what it led to stands alone without it", async () => {
    const item = (id: string) => thought("", JSON.stringify({ type: "reasoning", id, summary: [] }));
    const cut = answer([text("before"), item("rs_1"), call("call_1|fc_1")], { ...GPT, stopReason: "aborted" });
    const whole = answer([item("rs_2"), call("call_2|fc_2")], { ...GPT });
    const messages = [user(text("a")), cut, whole, result("call_2|fc_2", text("out")), user(text("b"))];
    const sent = hygienic(messages, GPT);
    expect(JSON.stringify(sent)).not.toContain("rs_1");
    expect(blocksOf(sent[2])).toEqual(blocksOf(whole));
    const body = await wireOf(sent, "openai-responses");
    expect(problemsOf(body, "openai-responses")).toEqual([]);
    const elsewhere = hygienic(messages, { ...GPT, model: "gpt-5.3" });
    expect(JSON.stringify(elsewhere)).not.toMatch(/rs_2|fc_2/);
    expect(idsIn(elsewhere)).toEqual(["call_2", "call_2"]);
  });
});

test("B073 a compaction between a call and its result, and another one after it: pairs hold, and the older one is skipped", async () => {
  const timestamp = "2026-06-21T13:01:34.832Z";
  const compaction = (summary: string, firstKeptEntryId: string) => ({
    type: "compaction",
    summary,
    firstKeptEntryId,
    tokensBefore: 1,
  });
  const said = (message: EntryMessage) => ({ type: "message", message });
  const lines: readonly (readonly [id: string, fields: object])[] = [
    ["m1", said(user(text("do it")))],
    ["m2", said(answer([call("t1")]))],
    ["c1", compaction("s1", "m2")],
    ["m3", said(result("t1", text("it is done")))],
    ["m4", said(answer([text("x")]))],
    ["m5", said(user(text("more")))],
    ["c2", compaction("s2", "m2")],
    ["m6", said(user(text("and now?")))],
  ];
  const path = lines.map(
    ([id, fields], at) => ({ id, parentId: lines[at - 1]?.[0] ?? null, timestamp, ...fields }) as Entry,
  );
  for (const length of [4, 5, 8]) {
    const { messages } = project(path.slice(0, length), { whole: true });
    for (const api of APIS) {
      const sent = hygienic(messages, TARGETS[api]);
      expect(problemsOf(await wireOf(sent, api), api)).toEqual([]);
      expect(JSON.stringify(sent)).toContain("it is done");
      expect(/\bs1\b|ns1/.test(JSON.stringify(sent))).toBe(length < 7);
    }
  }
});

describe("ids", () => {
  test("each family gets the form it takes; the same always, none twice, and fine ones as they are", () => {
    const long = `call_${"x".repeat(90)}`;
    const ids = ["abcdefghi", "functions.read:0", "functions_read_0", long, `${long}y`, "functions.read:0"];
    const messages = ids.flatMap((id, at) => [answer([call(id)]), result(id, text(`${at}`))]);
    const forms: readonly (readonly [Target, RegExp])[] = [
      [TARGETS["openai-completions"], /^[A-Za-z0-9_-]{1,40}$/],
      [CLAUDE, /^[A-Za-z0-9_-]{1,64}$/],
      [MISTRAL, /^[A-Za-z0-9]{9}$/],
    ];
    for (const [target, form] of forms) {
      const sent = hygienic(messages, target);
      const named = idsIn(sent) as readonly string[];
      expect(named.every((id) => form.test(id))).toBe(true);
      expect(named).toContain("abcdefghi");
      expect(new Set(named).size).toBe(ids.length);
      expect(hygienic(messages, target)).toEqual(sent);
      // What came before is sent as before, whatever comes after it.
      expect(idsIn(hygienic(messages.slice(0, 6), target))).toEqual(named.slice(0, 6));
      expect(sent.flatMap((message) => ("toolCallId" in message ? [blocksOf(message)[0]?.text] : []))).toEqual([
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
      ]);
    }
  });

  test("calls of Mistral's models behind another address are named and ordered as theirs", () => {
    const target: Target = { provider: "vllm", model: "mistralai/Devstral-Small-2", api: "openai-completions" };
    expect(familyOf(target)).toBe("mistral");
    expect(familyOf({ ...target, model: "qwen3" })).toBe("openai-completions");
    expect(familyOf({ ...target, api: "something-new" })).toBe("unknown");
    const sent = hygienic([user(text("a")), answer([call("t1")]), result("t1", text("ok")), user(text("b"))], target);
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant", "user"]);
  });
});

describe("pictures", () => {
  test("B051 a picture over the limit becomes a text note, and the conversation goes on", async () => {
    const messages = [
      user(text("look"), image(pngOf(10, 10, 5.8 * 1024 * 1024))),
      answer([text("no")]),
      user(text("well?")),
    ];
    for (const api of APIS) {
      const body = await wireOf(hygienic(messages, TARGETS[api]), api);
      expect(problemsOf(body, api)).toEqual([]);
    }
    expect(JSON.stringify(hygienic(messages, CLAUDE))).toMatch(
      /image left out: 5\.8 MB are more than the 3\.\d MB that fit/,
    );
    const { changed } = mend(messages, CLAUDE);
    expect(changed).toEqual([{ from: 0, why: "image" }]);
  });

  test("B051 of 126 pictures the newest are sent, and the request goes on beginning like the one before", () => {
    const pictures = Array.from({ length: 126 }, (_, at) => user(text(`${at}`), image(PNG)));
    const kept = (messages: readonly EntryMessage[]) =>
      messages.flatMap((message, at) => (blocksOf(message).some(({ type }) => type === "image") ? [at] : []));
    const sent = hygienic(pictures, CLAUDE);
    expect(kept(sent).length).toBeLessThanOrEqual(100);
    expect(kept(sent).at(-1)).toBe(125);
    expect(JSON.stringify(sent[0])).toContain("newer ones took its place");
    let broken = 0;
    for (let count = 2; count <= pictures.length; count++) {
      const before = JSON.stringify(hygienic(pictures.slice(0, count - 1), CLAUDE)).slice(0, -1);
      if (!JSON.stringify(hygienic(pictures.slice(0, count), CLAUDE)).startsWith(before)) broken += 1;
    }
    // Once where more than 20 have another limit, if at all; once where more than 100 came.
    expect(broken).toBeLessThanOrEqual(2);
  });

  test("of more than twenty none may be large", () => {
    const many = (count: number) => Array.from({ length: count }, () => user(image(pngOf(2_500, 10))));
    const left = (count: number) => JSON.stringify(hygienic(many(count), CLAUDE)).split("2500x10 pixels").length - 1;
    expect([left(20), left(21)]).toEqual([0, 21]);
  });

  test.each([
    ["what it is counts, not what it is called", image(PNG, "application/pdf"), { mimeType: "image/png" }],
    ["the prefix of a data URL is taken off", image(`data:image/png;base64,${PNG}`), { data: PNG }],
    ["what cannot be read is named", image("no base64 !"), { type: "text" }],
    [
      "more pixels than fit",
      image(pngOf(9_000, 20)),
      { text: "[image left out: 9000x20 pixels are more than the 8000 that fit]" },
    ],
  ])("%s", (_name, given, expected) => {
    expect(blocksOf(hygienic([user(text("see"), given)], CLAUDE)[0])[1]).toMatchObject(expected);
  });

  test("a kind that the family does not take is named", () => {
    const gif = image("R0lGODlhAQABAAAAACw=", "image/gif");
    expect(blocksOf(hygienic([user(gif)], CLAUDE)[0])[0]).toMatchObject({ type: "image", mimeType: "image/gif" });
    expect(JSON.stringify(hygienic([user(gif)], TARGETS["google-generative-ai"]))).toContain("image/gif is not taken");
  });
});

test("what was done is told, with the message it was done to", () => {
  const messages = [
    answer([call("a b")], { stopReason: "toolUse" }),
    answer([text("half")], { stopReason: "error" }),
    result("nobody", text("x")),
    user(text("q\0")),
  ];
  const { changed, from } = mend(messages, CLAUDE);
  expect(changed).toEqual(
    expect.arrayContaining([
      { from: 0, why: "call_id" },
      { from: null, why: "no_result: read" },
      { from: 1, why: "failed_answer" },
      { from: 2, why: "result_of_no_call" },
      { from: 3, why: "text_repaired" },
      { from: null, why: "begins_with_an_answer" },
    ]),
  );
  expect(from).toEqual([null, 0, null, 3]);
});
