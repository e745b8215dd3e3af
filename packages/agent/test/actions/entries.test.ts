import { LIMITS } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { resultEntry } from "../../src/actions/entries.ts";
import type { Finding } from "../../src/settle.ts";
import { answer, call, chain } from "../support/log.ts";

const [entry] = chain(answer("a1", {}, call("c1")));
const open = { answer: entry, ordinal: 0, call: call("c1") } as unknown as Parameters<typeof resultEntry>[0];

function resultOf(text: string, finding?: Finding, ok = true) {
  const made = { id: "r1", outcome: { ok, text }, nowMs: 1, ...(finding && { finding }) };
  return resultEntry(open, made).message as { isError: boolean; content: { text: string }[]; details?: unknown };
}

describe("a result", () => {
  test("belongs to its call", () => {
    expect(resultEntry(open, { id: "r1", outcome: { ok: true, text: "x" }, nowMs: 1 })).toMatchObject({
      id: "r1",
      call: { entryId: "a1", ordinal: 0 },
      message: { toolCallId: "c1", toolName: "write", isError: false, timestamp: 1 },
    });
  });

  test("that is too long is cut, and says by how much", () => {
    const [block] = resultOf("x".repeat(LIMITS.toolResultCharsMax + 7)).content;
    expect(block?.text).toMatch(/x\n\(cut here: 7 more characters\)$/);
  });

  test("is never empty and never holds half a character", () => {
    expect(resultOf(" \n").content[0]?.text).toBe("(no output)");
    expect(resultOf("a\ud800").content[0]?.text).toBe("a\ufffd");
  });

  test.each([
    ["happened", true, false],
    ["happened", false, true],
    ["absent", true, true],
    ["conflict", true, true],
    ["unknown", true, true],
  ] as const)("found out: %s, ok %s: error %s", (verdict, ok, isError) => {
    const outcome = { ok, text: "x" };
    const result = resultOf("x", { verdict, evidence: { seen: 1 }, repeat: false, outcome }, ok);
    expect(result.isError).toBe(isError);
    expect(result.details).toEqual({ holdfast: { verdict, evidence: { seen: 1 }, synthetic: true } });
  });

  test("of this life has no such mark", () => expect(resultOf("x").details).toBeUndefined());
});
