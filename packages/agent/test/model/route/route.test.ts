/** Who is asked, and who after a failure: models that fail on order, and a clock that the test moves. */
import { realWorld } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { modelFailure } from "../../../src/model/answers.ts";
import { RULES } from "../../../src/model/route/policy.ts";
import { Rests, type RestPlace } from "../../../src/model/route/rests.ts";
import { type Candidate, routeOf, type Routes } from "../../../src/model/route/route.ts";
import type { Model, ModelFailure, ModelFailureCode } from "../../../src/types.ts";

const START_MS = Date.UTC(2026, 0, 5);

function stand(names: readonly string[], place?: RestPlace) {
  const clock = { nowMs: START_MS };
  const world = { ...realWorld(), nowMs: () => clock.nowMs };
  const candidates = names.map((name): Candidate => {
    const [model = "", credential = "key"] = name.split("@");
    const asks: Model = { name: `p/${model}`, ask: () => Promise.reject(new Error("not asked here")) };
    return { provider: "p", model, credential, asks };
  });
  const routes: Routes = { candidates, rests: new Rests(world, place), world, sticky: new Map() };
  const nameOf = (found: Candidate): string =>
    found.credential === "key" ? found.model : `${found.model}@${found.credential}`;
  /** Asks once; `fails` says which candidates fail, and how. */
  const ask = (fails: Readonly<Record<string, ModelFailureCode | ModelFailure>> = {}, session = "s") => {
    const route = routeOf(session, routes);
    const asked: string[] = [];
    for (;;) {
      const found = route.next();
      if (!("asks" in found)) return { asked, failure: found };
      const name = nameOf(found as Candidate);
      asked.push(name);
      const failure = fails[name];
      if (failure === undefined) {
        route.answered();
        return { asked, failure: null };
      }
      route.failed(typeof failure === "string" ? modelFailure(failure, failure) : failure);
    }
  };
  return { clock, routes, ask };
}

describe("after a failure", () => {
  test.each([
    ["rate_limited", ["a@1", "a@2", "b@3"]],
    ["auth", ["a@1", "a@2", "b@3"]],
    ["billing", ["a@1", "a@2", "b@3"]],
    ["overloaded", ["a@1", "b@3"]],
    ["timeout", ["a@1", "b@3"]],
    ["connection", ["a@1", "b@3"]],
    ["bad_answer", ["a@1", "b@3"]],
    ["unknown", ["a@1", "b@3"]],
    ["not_set_up", ["a@1", "b@3"]],
    ["bad_request", ["a@1"]],
    ["context_overflow", ["a@1"]],
    ["content_filter", ["a@1"]],
  ] as const)("%s: %j are asked, each once", (code, asked) => {
    const { ask } = stand(["a@1", "a@2", "b@3"]);
    const found = ask({ "a@1": code, "a@2": code, "b@3": code });
    expect(found.asked).toEqual(asked);
    expect(found.failure?.code).toBe(code);
  });

  test("every code has its rule", () => {
    expect(Object.keys(RULES)).toHaveLength(12);
  });
});

describe("rests", () => {
  test("who failed is asked after the others, and first again when the rest is over", () => {
    const { clock, ask } = stand(["a", "b"]);
    expect(ask({ a: "overloaded" }).asked).toEqual(["a", "b"]);
    expect(ask().asked).toEqual(["b"]);
    expect(ask({ b: "overloaded" }).asked).toEqual(["b", "a"]);
    clock.nowMs += 31_000;
    expect(ask().asked).toEqual(["a"]);
  });

  test("a request at fault makes nobody rest", () => {
    const { ask } = stand(["a", "b"]);
    for (let round = 0; round < 10; round++) expect(ask({ a: "bad_request" }).asked).toEqual(["a"]);
    expect(ask().asked).toEqual(["a"]);
  });

  test("a key that is refused is not asked for any model; another model's limit is its own", () => {
    const { ask } = stand(["a@1", "b@1", "c@2"]);
    expect(ask({ "a@1": "auth" }).asked).toEqual(["a@1", "c@2"]);
    const other = stand(["a@1", "b@1"]);
    expect(other.ask({ "a@1": "rate_limited" }).asked).toEqual(["a@1", "b@1"]);
  });

  test("who says when to come back is not asked before, and the sender is told when", () => {
    const { clock, ask } = stand(["a"]);
    const limit = modelFailure("rate_limited", "slow down", { status: 429, retryAfterMs: 90_000 });
    expect(ask({ a: limit }).failure).toBe(limit);
    clock.nowMs += 60_000;
    const refused = ask();
    expect(refused.asked).toEqual([]);
    expect(refused.failure).toMatchObject({ code: "rate_limited", retryable: true, retryAfterMs: 30_000 });
    clock.nowMs += 30_000;
    expect(ask().asked).toEqual(["a"]);
  });

  test("a single model whose server is down is asked again at once; after five failures only every half minute", () => {
    const { clock, ask } = stand(["a"]);
    for (let round = 0; round < 5; round++) expect(ask({ a: "connection" }).asked).toEqual(["a"]);
    expect(ask({ a: "connection" })).toMatchObject({ asked: [], failure: { code: "connection", retryable: true } });
    clock.nowMs += 30_000;
    expect(ask({ a: "connection" }).asked).toEqual(["a"]);
    expect(ask().asked).toEqual([]);
    clock.nowMs += 30_000;
    expect(ask().asked).toEqual(["a"]);
    expect(ask().asked).toEqual(["a"]);
  });

  test("a key without money rests for hours, and is tried out by one question at a time", () => {
    const { clock, routes, ask } = stand(["a"]);
    ask({ a: "billing" });
    clock.nowMs += 29_000;
    expect(ask().asked).toEqual([]);
    clock.nowMs += 1_000;
    const first = routeOf("one", routes);
    expect("asks" in first.next()).toBe(true);
    expect("asks" in routeOf("two", routes).next()).toBe(false);
    first.left();
    expect(ask().asked).toEqual(["a"]);
    expect(ask().asked).toEqual(["a"]);
  });

  test("rests grow, up to their limit", () => {
    const { clock, routes, ask } = stand(["a", "b"]);
    const [a] = routes.candidates;
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      ask({ a: "timeout" });
      const standing = routes.rests.standing(a!);
      if (standing.kind !== "tired") throw new Error(standing.kind);
      waits.push(standing.untilMs - clock.nowMs);
      clock.nowMs = standing.untilMs;
    }
    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000]);
  });

  test("they survive a restart, without the key; another key in its place is free; a clock set back frees", () => {
    const kept: Record<string, unknown>[] = [];
    const first = stand(["a@sk-secret"], { kept: null, keep: (rests) => void kept.push(rests) });
    first.ask({ "a@sk-secret": "auth" });
    expect(JSON.stringify(kept.at(-1))).not.toContain("sk-secret");
    const place = { kept: kept.at(-1) as never, keep() {} };
    expect(stand(["a@sk-secret"], place).ask().asked).toEqual([]);
    expect(stand(["a@sk-other"], place).ask().asked).toEqual(["a@sk-other"]);
    const back = stand(["a@sk-secret"], place);
    back.clock.nowMs -= 3_600_000;
    expect(back.ask().asked).toEqual(["a@sk-secret"]);
    const odd = { kept: { x: 1, "p:y": { failures: "many" }, "p:z": null } as never, keep() {} };
    expect(stand(["a"], odd).ask().asked).toEqual(["a"]);
  });
});

test("a conversation stays with the key that answered it; others begin with the first", () => {
  const { clock, ask } = stand(["a@1", "a@2"]);
  expect(ask({ "a@1": "rate_limited" }, "one").asked).toEqual(["a@1", "a@2"]);
  clock.nowMs += 31_000;
  expect(ask({}, "one").asked).toEqual(["a@2"]);
  expect(ask({}, "two").asked).toEqual(["a@1"]);
  expect(ask({ "a@2": "rate_limited" }, "one").asked).toEqual(["a@2", "a@1"]);
});
