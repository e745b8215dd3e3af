/**
 * Random transcripts as bad as they get: calls in parallel, results that are late, doubled, missing or of no call, answers
 * that failed or were cut, thoughts of several models, pictures, odd roles, branches, compactions and edits; at the end a
 * message that waits for its answer.
 */
import { type Entry, type EntryMessage, project } from "@holdfast/sessions";
import fc from "fast-check";
import type { Target } from "../../src/context/hygiene/families.ts";
import { TARGETS } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;

/** 1x1, whole. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** The beginning of a picture of that size, and as many bytes. */
export function pngOf(width: number, height: number, bytes = 64): string {
  const buffer = Buffer.alloc(Math.max(bytes, 33));
  Buffer.from(PNG, "base64").copy(buffer, 0, 0, 33);
  buffer.writeUInt32BE(width, 16);
  buffer.writeUInt32BE(height, 20);
  return buffer.toString("base64");
}

export const NEWEST = "the newest question";

const said = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("hello", "第二项待办", "😀 ok", "line\nline", "trailing  ") },
  { weight: 2, arbitrary: fc.constantFrom("", "  \n", "\0", "half \ud83d", "a\0b") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);
const image = fc.record({
  type: fc.constant("image"),
  mimeType: fc.constantFrom("image/png", "image/jpg", "application/pdf", ""),
  data: fc.constantFrom(
    PNG,
    `data:image/png;base64,${PNG}`,
    pngOf(9_000, 20),
    "",
    "no base64 !",
    "R0lGODlhAQABAAAAACw=",
  ),
});
const textBlock = said.map((text) => ({ type: "text", text }));
const callId = fc.constantFrom(
  "1",
  "call_a",
  "functions.read:0",
  "call_x|fc_x",
  "call_x|fc_y",
  "y".repeat(90),
  "abcdefghi",
  "",
);

/** Whose thought it is stands in its text and in its signature. */
function thoughtOf({ provider, model, api }: Target, n: number): Fields {
  const whose = `thought of ${provider}/${model} by ${api}`;
  const encoded = Buffer.from(`${whose} ${n}`).toString("base64");
  const item = { type: "reasoning", id: `rs_${n}`, summary: [], encrypted_content: encoded };
  const signature = api === "openai-responses" ? JSON.stringify(item) : encoded;
  const field = api === "openai-completions" ? "reasoning_content" : signature;
  return { type: "thinking", thinking: whose, thinkingSignature: field };
}

const AUTHORS: readonly Target[] = [
  ...Object.values(TARGETS),
  { provider: "anthropic", model: "claude-opus-4-5", api: "anthropic-messages" },
  { provider: "deepseek", model: "deepseek-chat", api: "openai-completions" },
];

const answer = fc
  .record({
    by: fc.constantFrom(...AUTHORS),
    thought: fc.constantFrom("none", "signed", "bare", "blank"),
    n: fc.nat({ max: 1_000_000 }),
    texts: fc.array(textBlock, { maxLength: 2 }),
    calls: fc.array(
      fc.record({
        id: callId,
        name: fc.constantFrom("read", "exec", "odd name", "7up", ""),
        args: fc.constantFrom<unknown>({}, { path: "a" }, null, '{"path":"b"}', "words"),
      }),
      {
        maxLength: 3,
      },
    ),
    stopReason: fc.constantFrom("stop", "toolUse", "aborted", "error", "length", undefined),
    plain: fc.boolean(),
  })
  .map(({ by, thought, n, texts, calls, stopReason, plain }): Fields => {
    const thoughts: readonly Fields[] =
      thought === "none"
        ? []
        : [
            thought === "signed"
              ? thoughtOf(by, n)
              : {
                  type: "thinking",
                  thinking: thought === "bare" ? `thought of ${by.provider}/${by.model} by ${by.api}` : "",
                },
          ];
    const called = calls.map(({ id, name, args }) => ({ type: "toolCall", id, name, arguments: args }));
    const content = plain && called.length === 0 ? "a plain text" : [...thoughts, ...texts, ...called];
    return { role: "assistant", content, ...by, ...(stopReason === undefined ? {} : { stopReason }) };
  });
const result = fc
  .record({ id: callId, blocks: fc.array(fc.oneof(textBlock, image), { maxLength: 2 }), isError: fc.boolean() })
  .map(
    ({ id, blocks, isError }): Fields => ({
      role: "toolResult",
      toolCallId: id,
      toolName: "read",
      content: blocks,
      isError,
    }),
  );
const user = fc.oneof(
  said.map((content): Fields => ({ role: "user", content })),
  fc.array(fc.oneof(textBlock, image), { maxLength: 3 }).map((content): Fields => ({ role: "user", content })),
);
const other = fc.constantFrom<Fields>(
  { role: "bashExecution", command: "ls", output: "a" },
  { role: "custom", customType: "x", content: [{ type: "text", text: "a note" }], display: false },
  { role: "system", content: "a rule" },
  { role: "unheard-of", payload: 1 },
);

type Line =
  | { readonly kind: "message"; readonly message: Fields }
  | { readonly kind: "compaction" | "branch"; readonly back: number };
const line = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .oneof(answer, answer, result, result, user, other)
      .map((message): Line => ({ kind: "message", message })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("compaction" as const, "branch" as const), back: fc.nat({ max: 6 }) }),
  },
);

/** The messages of the path to the leaf, as the sessions give them. */
export const transcript: fc.Arbitrary<readonly EntryMessage[]> = fc.array(line, { maxLength: 14 }).map((lines) => {
  const entries: Entry[] = [];
  let parentId: string | null = null;
  const push = (fields: Fields): void => {
    const id: string = `e${entries.length}`;
    entries.push({ ...fields, id, parentId, timestamp: "2026-06-21T13:01:34.832Z" } as Entry);
    parentId = id;
  };
  for (const one of lines) {
    if (one.kind === "message") push({ type: "message", message: one.message });
    else {
      const target = entries.at(-1 - one.back)?.id ?? null;
      if (one.kind === "compaction" && target !== null)
        push({ type: "compaction", summary: "what was said", firstKeptEntryId: target, tokensBefore: 1 });
      if (one.kind === "branch") parentId = target;
    }
  }
  push({ type: "message", message: { role: "user", content: [{ type: "text", text: NEWEST }] } });
  return project(pathTo(entries), { whole: true }).messages;
});

function pathTo(entries: readonly Entry[]): readonly Entry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Entry[] = [];
  for (let at = entries.at(-1); at !== undefined; at = at.parentId === null ? undefined : byId.get(at.parentId))
    path.unshift(at);
  return path;
}
