/** Texts that come without a status, and what must never be in a message. The statuses are in model.test.ts. */
import { describe, expect, test } from "vitest";
import { detailOf, expiredFailure, failureOf } from "../../../src/model/piai/failures.ts";
import { PATIENCE } from "../../../src/model/piai/limits.ts";

const place = { provider: "p", model: "m", baseUrl: "https://api.example.com/v1", apiKey: "sk-secret-1" };
const streaming = { status: null, retryAfterMs: null, responded: true };

test.each([
  ["terminated: other side closed", "connection"],
  ["Stream ended without finish_reason", "bad_answer"],
  ["Unexpected token b in JSON at position 1", "bad_answer"],
  ["Rate limit exceeded", "rate_limited"],
  ["The engine is currently overloaded", "overloaded"],
  ["insufficient_quota", "billing"],
  ["Provider finish_reason: content_filter", "content_filter"],
  ["something new", "unknown"],
])("in a stream %s is %s", (text, code) => {
  expect(failureOf(text, false, streaming, place).code).toBe(code);
});

test("what the library knows as an overflow is one, but not on a 429", () => {
  expect(failureOf("too long", true, streaming, place).code).toBe("context_overflow");
  expect(failureOf("400: too many tokens", true, { ...streaming, status: 400 }, place).code).toBe("context_overflow");
  expect(failureOf("429: too many tokens", true, { ...streaming, status: 429 }, place).code).toBe("rate_limited");
});

describe("details", () => {
  test.each([
    ['401: {"error":{"message":"no such key"}}', "no such key"],
    ['400 {"message":"bad"}', "bad"],
    ["500 status code (no body)", "status code (no body)"],
    ["<p>\n  Busy\n</p>", "<p> Busy </p>"],
    ["key sk-secret-1 is wrong", "key [key] is wrong"],
    ["see https://u:pw@example.com/a?key=abc now", "see https://example.com/a now"],
  ])("%s", (text, detail) => {
    expect(detailOf(text, place.apiKey)).toBe(detail);
  });

  test("long ones are cut at a character", () => {
    const detail = detailOf(`${"x".repeat(299)}👍👍`, place.apiKey);
    expect(detail.length).toBeLessThanOrEqual(301);
    expect(detail.isWellFormed()).toBe(true);
  });
});

test("one sentence, which ends as one; what to do is said elsewhere", () => {
  const refused = { ...streaming, status: 401 };
  expect(failureOf("401: no such key", false, refused, place).message).toBe("p/m answered 401: no such key.");
  expect(failureOf("401: Who are you?", false, refused, place).message).toBe("p/m answered 401: Who are you?");
  const silent = { ...streaming, responded: false };
  expect(failureOf("fetch failed", false, silent, place).message).toBe(
    "p/m did not answer at https://api.example.com/v1: fetch failed.",
  );
});

test("our own patience is named in seconds", () => {
  expect(expiredFailure("idleMs", PATIENCE, place)).toMatchObject({ code: "timeout", retryable: true });
  expect(expiredFailure("idleMs", PATIENCE, place).message).toContain("p/m sent nothing for 120 s");
  expect(expiredFailure("totalMs", PATIENCE, place).message).toContain("did not finish within 900 s");
});
