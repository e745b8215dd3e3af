/** States that differ only in who is who have one representative; states that differ in more never share one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { key, representative, type State } from "../../src/protocol/lock-state.ts";
import { writeLockModel } from "../../src/protocol/write-lock.ts";

const model = writeLockModel({ mode: "create", processes: 3, crashes: 1, sleeps: 1 });

/** Where a walk that always takes the given branch ends. */
function walk(choices: readonly number[]): State {
  return choices.reduce((state, choice) => {
    const steps = model.steps(state);
    return steps[choice % Math.max(1, steps.length)]?.next ?? state;
  }, model.initial);
}
/** The same state with P1, P2, P3 called otherwise, done on its text and so independently of the code under test. */
function renamed(state: State, order: readonly number[]): State {
  const text = JSON.stringify(state).replace(/P([123])/g, (_, digit: string) => `P${order[Number(digit) - 1]}`);
  const copy = JSON.parse(text) as State;
  const processes = [1, 2, 3].map((at) => copy.processes[order.indexOf(at)]);
  return { ...copy, processes: processes.filter((each) => each !== undefined) };
}
const choices = fc.array(fc.nat(20), { maxLength: 40 });
const orders = fc.shuffledSubarray([1, 2, 3], { minLength: 3 });

test("a representative is the state itself under other names", () => {
  fc.assert(
    fc.property(choices, (way) => {
      const state = walk(way);
      const all = [
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
      ];
      const sorted = (each: State): State => ({
        ...each,
        evidence: Object.fromEntries(Object.entries(each.evidence).toSorted()),
      });
      const others = all.map((order) => key(sorted(renamed(state, order))));
      expect(others).toContain(key(sorted(representative(state))));
    }),
  );
});

test("what can follow is the same under all names", () => {
  fc.assert(
    fc.property(choices, orders, (way, order) => {
      const state = walk(way);
      const next = (each: State): string[] =>
        model
          .steps(each)
          .map((step) => step.what.replace(/P\d/g, "P"))
          .toSorted();
      expect(next(renamed(state, order))).toEqual(next(state));
      expect(next(representative(state))).toEqual(next(state));
    }),
  );
});
