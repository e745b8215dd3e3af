/** Limits on a context: what always stays, what goes first, and that exchanges are never halved. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, isMessage, isToolResult, toolCallsOf } from "../src/entry.ts";
import type { Limits } from "../src/limit.ts";
import { project } from "../src/projection.ts";
import { answer, call, compaction, message, result, user } from "./support/make.ts";

const ids = (path: readonly Entry[], limits: Limits): readonly string[] =>
  project(path, { whole: true, ...limits }).entryIds;

const talk = [user("u1", null, "1"), answer("a1", "u1", "1"), user("u2", "a1", "2"), answer("a2", "u2", "2")];
const work = [
  ...talk,
  user("u3", "a2", "3"),
  call("c", "u3", ["t1", "t2"]),
  result("r1", "c", "t1"),
  result("r2", "r1", "t2"),
  answer("a3", "r2", "done"),
];

describe("by number", () => {
  test.each<[number | undefined, readonly string[]]>([
    [undefined, ["u1", "a1", "u2", "a2"]],
    [9, ["u1", "a1", "u2", "a2"]],
    [3, ["a1", "u2", "a2"]],
    [2, ["u2", "a2"]],
    [1, ["u2"]],
    [0, ["u2"]],
  ])("at most %s", (maxMessages, expected) => expect(ids(talk, { maxMessages })).toEqual(expected));

  test("an exchange goes in whole or not at all, and the newest question stays", () => {
    expect(ids(work, { maxMessages: 5 })).toEqual(["u3", "c", "r1", "r2", "a3"]);
    expect(ids(work, { maxMessages: 4 })).toEqual(["u3", "a3"]);
    expect(project(work, { whole: true, maxMessages: 4 }).report.leftOut.map((one) => one.why)).toContain(
      "max_messages",
    );
  });

  test("an exchange at the end stays: the model is asked about its results", () => {
    expect(ids(work.slice(0, -1), { maxMessages: 1 })).toEqual(["u3", "c", "r1", "r2"]);
  });

  test("what stands between a call and its results stays with them", () => {
    const odd = [
      user("u", null, "x"),
      call("c", "u", ["t"]),
      user("v", "c", "between"),
      result("r", "v", "t"),
      answer("a", "r", "x"),
    ];
    expect(ids(odd, { maxMessages: 3 })).toEqual(["c", "v", "r"]);
    expect(ids(odd, { maxMessages: 4 })).toEqual(["c", "v", "r", "a"]);
  });

  test("summaries and system prompts do not count and stay", () => {
    const system = message("s", "k", { role: "system", content: "prompt" });
    const path = [
      user("u0", null, "0"),
      compaction("k", "u0", "u0"),
      system,
      user("u1", "s", "1"),
      answer("a1", "u1", "1"),
    ];
    expect(ids(path, { maxMessages: 1 })).toEqual(["k", "s", "u1"]);
    expect(ids(path, { maxMessages: 2 })).toEqual(["k", "s", "u1", "a1"]);
  });

  test("a path without messages", () => expect(ids([], { maxMessages: 1 })).toEqual([]));
  test("a result without a call stands alone", () => {
    expect(ids([result("r", null, "t"), user("u", "r", "x")], { maxMessages: 1 })).toEqual(["u"]);
  });
});

describe("by tokens", () => {
  const long = [
    user("u1", null, "x".repeat(400)),
    answer("a1", "u1", "y".repeat(400)),
    user("u2", "a1", "z".repeat(40)),
  ];
  test.each<[number, readonly string[]]>([
    [210, ["u1", "a1", "u2"]],
    [209, ["a1", "u2"]],
    [110, ["a1", "u2"]],
    [109, ["u2"]],
    [0, ["u2"]],
  ])("at most %s", (maxTokens, expected) => expect(ids(long, { maxTokens })).toEqual(expected));

  test("the report counts what is in", () => {
    const { report } = project(long, { whole: true, maxTokens: 110 });
    expect(report).toMatchObject({ approximateTokens: 110, messages: 2, leftOut: [{ id: "u1", why: "max_tokens" }] });
  });
});

test("for any history: no half exchange, the newest question in, what is in is the newest", () => {
  const steps = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(steps, fc.nat({ max: 20 }), (kinds, maxMessages) => {
      const path = historyOf(kinds);
      const kept = new Set(ids(path, { maxMessages }));
      const newest = path.findLast((entry) => isMessage(entry) && entry.message.role === "user");
      if (newest !== undefined) expect(kept.has(newest.id)).toBe(true);
      for (const entry of path) {
        if (!isMessage(entry)) continue;
        const called = toolCallsOf(entry.message).map((one) => one.id);
        const results = path.filter(
          (one) => isMessage(one) && isToolResult(one.message) && called.includes(one.message.toolCallId),
        );
        for (const one of results) expect(kept.has(one.id)).toBe(kept.has(entry.id));
      }
    }),
    { seed: 5 },
  );
});

function historyOf(kinds: readonly number[]): Entry[] {
  const path: Entry[] = [];
  for (const kind of kinds) {
    const id = `e${path.length}`;
    const parent = path.at(-1)?.id ?? null;
    if (kind <= 1) path.push(user(id, parent, "x"));
    else if (kind <= 3) path.push(answer(id, parent, "y"));
    else path.push(call(id, parent, [`t${id}`]), result(`${id}r`, id, `t${id}`));
  }
  return path;
}
