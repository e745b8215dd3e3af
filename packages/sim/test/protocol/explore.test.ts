/** The explorer itself, on models small enough to be counted by hand. */
import { expect, test } from "vitest";
import { explore, type Model, traceText } from "../../src/protocol/explore.ts";

/** Counts by one or by two up to `end`; may be told to break at, or never to leave, a number. */
function counter(end: number, odd: { readonly breaksAt?: number; readonly trap?: number } = {}): Model<number> {
  return {
    initial: 0,
    steps: (n) =>
      n === odd.trap ? [] : [1, 2].flatMap((by) => (n + by <= end ? [{ what: `adds ${by}`, next: n + by }] : [])),
    representative: (n) => n,
    key: String,
    broken: (n) => (n === odd.breaksAt ? `reached ${n}` : null),
    finished: (n) => n === end,
  };
}

test("looks at every state once and counts every step", () => {
  expect(explore(counter(5), 100)).toEqual({ states: 6, steps: 9, depth: 3, complete: true, counterexample: null });
});

test("a counterexample is as short as it can be, and can be read", () => {
  const { counterexample, complete } = explore(counter(9, { breaksAt: 5 }), 100);
  expect(complete).toBe(false);
  expect(counterexample?.trace).toHaveLength(3);
  expect(counterexample && traceText(counterexample)).toMatch(
    /^ {2}1\. adds 1\n {2}2\. adds 2\n {2}3\. adds 2\n {2}=> reached 5$/,
  );
});

test("a state from which nobody comes to an end is a counterexample", () => {
  const { counterexample } = explore(counter(9, { trap: 4 }), 100);
  expect(counterexample?.why).toMatch(/nobody can ever come to an end/);
  expect(counterexample?.trace).toEqual(["adds 2", "adds 2"]);
});

test("what was cut off is not called complete", () => {
  expect(explore(counter(1000), 10)).toMatchObject({ complete: false, counterexample: null });
});

test("states that differ only in who is who are one, and a trace still calls everybody by one name", () => {
  const pair: Model<readonly [number, number]> = {
    initial: [0, 0],
    steps: (state) =>
      ([0, 1] as const).flatMap((who) =>
        state[who] < 2 ? [{ what: `P${who + 1}`, next: state.with(who, state[who] + 1) as [number, number] }] : [],
      ),
    representative: ([a, b]) => (a < b ? [a, b] : [b, a]),
    key: String,
    broken: ([a, b]) => (a + b === 4 ? "both are at two" : null),
    finished: () => false,
  };
  const { states, counterexample } = explore(pair, 100);
  expect(states, "of nine").toBe(6);
  expect(counterexample?.trace.toSorted()).toEqual(["P1", "P1", "P2", "P2"]);
});
