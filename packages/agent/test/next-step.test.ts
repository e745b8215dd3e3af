import type { Entry } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { descends, nextStep, openCalls } from "../src/next-step.ts";
import { answer, call, chain, custom, result, user } from "./support/log.ts";

const MESSAGE = { key: "web:x:1:m1" };
const heard = user("u1", MESSAGE.key);
const ours = { answers: ["u1"], t: 1 };

/** A step without the entries' bodies. */
function brief(since: readonly Entry[]): string {
  const next = nextStep(since, MESSAGE);
  switch (next.kind) {
    case "hear":
      return "hear";
    case "ask":
      return `ask ${next.answering.join(",")}`;
    case "act":
      return `act ${next.answer.id} ${next.open.map((open) => open.ordinal).join(",")}`;
    default:
      return `${next.kind} ${next.entry.id}`;
  }
}

describe("what the log lacks", () => {
  const two = answer("a1", ours, call("c1"), call("c2"));
  const cases: readonly (readonly [string, readonly Entry[], string])[] = [
    ["nothing is there", [], "hear"],
    ["another message only", chain(user("u0", "web:x:1:m0")), "hear"],
    ["a message without a key", chain(user("u0")), "hear"],
    [
      "state and broken entries only",
      chain(custom("s", "holdfast:turn"), { id: "x", type: "message", message: 1 }),
      "hear",
    ],
    ["heard", chain(heard), "ask u1"],
    ["heard, then state", chain(heard, custom("s", "holdfast:attempt")), "ask u1"],
    ["answered", chain(heard, answer("a1", ours)), "reply a1"],
    ["an answer to another message follows it", chain(heard, answer("a1", { answers: ["u0"] })), "ask u1"],
    ["an answer to both", chain(user("u0", "k0"), heard, answer("a1", { answers: ["u0", "u1"] })), "reply a1"],
    ["calls, none done", chain(heard, two), "act a1 0,1"],
    ["calls, the first done", chain(heard, two, result("r1", "c1", ["a1", 0])), "act a1 1"],
    ["calls, the second done", chain(heard, two, result("r2", "c2", ["a1", 1])), "act a1 0"],
    ["calls, all done", chain(heard, two, result("r1", "c1", ["a1", 0]), result("r2", "c2", ["a1", 1])), "ask u1"],
    [
      "calls done, the question answered two messages",
      chain(heard, answer("a1", { answers: ["u0", "u1"] }, call("c1")), result("r1", "c1", ["a1", 0])),
      "ask u0,u1",
    ],
    [
      "answered after calls",
      chain(heard, answer("a1", ours, call("c1")), result("r1", "c1", ["a1", 0]), answer("a2", ours)),
      "reply a2",
    ],
    [
      "the same call id used twice by the model, one done",
      chain(heard, answer("a1", ours, call("c1"), call("c1")), result("r1", "c1", ["a1", 0])),
      "act a1 1",
    ],
    ["a visible failure", chain(heard, answer("a1", { ...ours, stopReason: "error" })), "failed a1"],
    ["an aborted answer of ours", chain(heard, answer("a1", { ...ours, stopReason: "aborted" })), "failed a1"],
    ["an answer cut by length", chain(heard, answer("a1", { ...ours, stopReason: "length" })), "reply a1"],
    [
      "the leaf was moved to another branch",
      chain(heard, answer("a1", ours, call("c1")), { ...custom("l", "holdfast:leaf"), parentId: "old" }),
      "act a1 0",
    ],
  ];
  test.each(cases)("%s", (_name, since, step) => expect(brief(since)).toBe(step));
});

describe("answers of other programs", () => {
  const cases: readonly (readonly [string, readonly Entry[], string])[] = [
    ["answers what is above it", chain(heard, answer("a1")), "reply a1"],
    ["answers two messages at once", chain(heard, user("u2", "k2"), answer("a1")), "reply a1"],
    [
      "a final answer in between ends its reach",
      chain(heard, answer("a0", { answers: ["u0"] }), answer("a1")),
      "ask u1",
    ],
    [
      "an answer with calls in between does not",
      chain(heard, answer("a0", {}, call("c1")), result("r1", "c1"), answer("a1")),
      "reply a1",
    ],
    ["an error in between does not", chain(heard, answer("a0", { stopReason: "error" }), answer("a1")), "reply a1"],
    ["an error answers nothing", chain(heard, answer("a1", { stopReason: "error" })), "ask u1"],
    ["on another branch it answers nothing", chain(heard, { ...answer("a1"), parentId: "start" }), "ask u1"],
    ["at the root it answers nothing", chain(heard, { ...answer("a1"), parentId: null }), "ask u1"],
    ["its result is found by the call's id", chain(heard, answer("a1", {}, call("c1")), result("r1", "c1")), "ask u1"],
    [
      "a result of another id closes nothing",
      chain(heard, answer("a1", {}, call("c1")), result("r1", "c9")),
      "act a1 0",
    ],
    [
      "a result on another branch closes nothing",
      chain(heard, answer("a1", {}, call("c1")), { ...result("r1", "c1"), parentId: "u1" }),
      "act a1 0",
    ],
    [
      "a call id used again: the nearest unanswered call gets the result",
      chain(heard, answer("a1", {}, call("c1")), result("r1", "c1"), answer("a2", {}, call("c1")), result("r2", "c1")),
      "ask u1",
    ],
  ];
  test.each(cases)("%s", (_name, since, step) => expect(brief(since)).toBe(step));

  test("a circle of parents ends", () => {
    const circle = [
      ...chain(heard),
      ...chain({ ...answer("a1"), parentId: "a2" }, { ...answer("a2"), parentId: "a1" }),
    ];
    expect(brief(circle)).toBe("ask u1");
    expect(brief([...chain(heard), ...chain({ ...answer("a1"), parentId: "a1" })])).toBe("ask u1");
  });
});

describe("open calls", () => {
  test("all answers count, failed ones do not", () => {
    const log = chain(
      answer("a1", {}, call("c1"), call("c2")),
      result("r1", "c1", ["a1", 0]),
      answer("a2", { stopReason: "error" }, call("c3")),
      answer("a3", {}, call("c4")),
    );
    expect(openCalls(log).map(({ answer, ordinal }) => `${answer.id}#${ordinal}`)).toEqual(["a1#1", "a3#0"]);
  });
});

describe("whether a leaf lies below an entry", () => {
  const since = chain(
    { ...user("b"), parentId: "start" },
    user("c"),
    { ...user("d"), parentId: "elsewhere" },
    user("e"),
  );
  test.each([
    ["start", "start", true],
    ["c", null, true],
    ["c", "b", true],
    ["c", "start", true],
    ["b", "start", true],
    ["e", "start", false],
    ["e", "c", false],
    ["b", "c", false],
    ["unknown", "c", false],
    [null, "c", false],
  ])("%s below %s: %s", (leaf, ancestor, expected) => expect(descends(since, leaf, ancestor)).toBe(expected));
});

/** A tiny agent that does what it is told and stops after any number of entries: the model for the property below. */
interface Plan {
  readonly calls: readonly number[];
  readonly noise: readonly boolean[];
}

function run(log: Entry[], plan: Plan, stopAt: number): void {
  let noise = 0;
  const push = (entry: Record<string, unknown> & { id: string }): void => {
    if (log.length >= stopAt) return;
    log.push({ timestamp: "t", parentId: log.at(-1)?.id ?? null, ...entry } as unknown as Entry);
    if (plan.noise[noise++ % plan.noise.length] && log.length < stopAt) {
      log.push({ ...custom(`n${log.length}`, "noise"), timestamp: "t", parentId: log.at(-1)?.id ?? null } as Entry);
    }
  };
  for (let step = 0; step < 50 && log.length < stopAt; step++) {
    const next = nextStep(log, MESSAGE);
    if (next.kind === "hear") push(user("u1", MESSAGE.key));
    else if (next.kind === "ask") {
      const asked = log.filter((entry) => entry.id.startsWith("a")).length;
      const count = plan.calls[asked] ?? 0;
      const calls = Array.from({ length: count }, (_, ordinal) => call(`c${ordinal}`));
      push(answer(`a${asked}`, { answers: next.answering }, ...calls));
    } else if (next.kind === "act") {
      const [open] = next.open;
      if (open) push(result(`r-${open.answer.id}-${open.ordinal}`, open.call.id, [open.answer.id, open.ordinal]));
    } else return;
  }
}

describe("a crash after any prefix", () => {
  test("gives the same continuation: every step once, whatever happened before", () => {
    const plans = fc.record({
      calls: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
      noise: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(plans, fc.array(fc.nat({ max: 30 }), { maxLength: 5 }), (plan, crashes) => {
        const whole: Entry[] = [];
        run(whole, plan, Number.POSITIVE_INFINITY);
        const broken: Entry[] = [];
        for (const stopAt of crashes) run(broken, plan, Math.max(stopAt, broken.length));
        run(broken, plan, Number.POSITIVE_INFINITY);
        const steps = (log: readonly Entry[]) =>
          log.filter((entry) => entry.type === "message").map((entry) => entry.id);
        expect(steps(broken)).toEqual(steps(whole));
        expect(nextStep(broken, MESSAGE).kind).toBe("reply");
      }),
    );
  });
});
