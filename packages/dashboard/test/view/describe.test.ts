import { describe, expect, test } from "vitest";
import { en } from "../../src/text/en.ts";
import { zh } from "../../src/text/zh.ts";
import type { Call } from "../../src/view/calls.ts";
import { argumentsText, describeCall, evidenceText, signOf } from "../../src/view/describe.ts";

function call(part: Partial<Call>): Call {
  const plain = {
    tool: "write",
    state: "ok",
    verdict: null,
    evidence: null,
    result: "",
    attempts: 1,
    tookMs: null,
  } as const;
  return { ...plain, arguments: { path: "notes/todo.md", content: "a\nb\nc\n" }, ...part };
}

describe("one human line", () => {
  const cases: readonly (readonly [Partial<Call>, string, string])[] = [
    [{}, "Wrote notes/todo.md, 3 lines", "写入了 notes/todo.md，共 3 行"],
    [{ arguments: { path: "a", content: "one" } }, "Wrote a, 1 line", "写入了 a，共 1 行"],
    [{ state: "in_flight" }, "Writing notes/todo.md", "正在写入 notes/todo.md"],
    [{ state: "failed" }, "Did not write notes/todo.md", "没有写入 notes/todo.md"],
    [{ verdict: "happened" }, "Wrote notes/todo.md, 3 lines", "写入了 notes/todo.md，共 3 行"],
    [{ state: "failed", verdict: "conflict" }, "Did not write notes/todo.md", "没有写入 notes/todo.md"],
    [{ state: "failed", verdict: "unknown" }, "Not known how it ended: notes/todo.md", "不清楚结果如何：notes/todo.md"],
    [{ state: "open" }, "Not known how it ended: notes/todo.md", "不清楚结果如何：notes/todo.md"],
    [{ tool: "exec", arguments: { command: "npm test\n  --all" } }, "Ran npm test --all", "运行了 npm test --all"],
    [{ tool: "memory_search", arguments: {} }, "Used memory_search", "使用了 memory_search"],
    [{ tool: "read", arguments: { path: 7 }, state: "failed" }, "Could not read read", "未能读取 read"],
  ];
  test.each(cases)("%j", (part, english, chinese) => {
    expect(describeCall(call(part), en)).toBe(english);
    expect(describeCall(call(part), zh)).toBe(chinese);
  });

  test("a long command is cut", () => {
    expect(describeCall(call({ tool: "exec", arguments: { command: "x".repeat(500) } }), en).length).toBeLessThan(100);
  });
});

test("a verdict is the sign, else the state; an open call is unknown", () => {
  expect(signOf(call({ state: "failed", verdict: "absent" }))).toBe("absent");
  expect(signOf(call({ state: "failed" }))).toBe("failed");
  expect(signOf(call({ state: "open" }))).toBe("unknown");
});

test("arguments and evidence are shown as they are", () => {
  expect(argumentsText(call({}))).toBe("path: notes/todo.md\ncontent:\na\nb\nc");
  expect(argumentsText(call({ arguments: { limit: 5, all: true } }))).toBe("limit: 5\nall: true");
  expect(evidenceText({ hash: "x", size: 3 })).toBe("hash: x\nsize: 3");
  expect(evidenceText(null)).toBe("");
});
