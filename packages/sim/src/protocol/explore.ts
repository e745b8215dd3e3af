/**
 * Every reachable state of a small model, breadth first, so that a counterexample is as short as it can be.
 * Invariant: nothing is sampled. Of states that differ only in who is who one is looked at, once, whichever way led to it, and
 * from each one the end must be reachable; what is cut off by `statesMax` is reported as such and proves nothing.
 */

export interface Step<State> {
  /** `P1 appends its line`: read by people, in a trace. */
  readonly what: string;
  readonly next: State;
}

export interface Model<State> {
  readonly initial: State;
  steps(state: State): readonly Step<State>[];
  /** One state for all that differ only in who is who. */
  representative(state: State): State;
  /** Equal for equal states only. */
  key(state: State): string;
  /** The promise that is broken here, in words, or null. */
  broken(state: State): string | null;
  /** Whether everybody has come to an end. */
  finished(state: State): boolean;
}

export interface Counterexample {
  readonly why: string;
  /** What happened, from the first step on. */
  readonly trace: readonly string[];
}

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** The number of steps to the farthest state. */
  readonly depth: number;
  readonly complete: boolean;
  readonly counterexample: Counterexample | null;
}

interface Found {
  readonly key: string;
  readonly from: number;
  readonly depth: number;
}

/** Looks at states until a promise is broken, none is left, or there are `statesMax`. */
export function explore<State>(model: Model<State>, statesMax: number): Exploration {
  const first = model.representative(model.initial);
  const found: Found[] = [{ key: model.key(first), from: -1, depth: 0 }];
  const known = new Map<string, number>([[model.key(first), 0]]);
  const open: (State | undefined)[] = [first];
  /** Pairs of state and successor, for the question whether the end can be reached. */
  const edges: number[] = [];
  const ends: number[] = [];
  const result = (counterexample: Counterexample | null, complete: boolean): Exploration => {
    return { states: found.length, steps: edges.length / 2, depth: found.at(-1)?.depth ?? 0, complete, counterexample };
  };
  for (let at = 0; at < found.length; at += 1) {
    const state = open[at];
    if (state === undefined) break;
    open[at] = undefined;
    const why = model.broken(state);
    if (why !== null) return result({ why, trace: traceTo(model, found, at) }, false);
    if (model.finished(state)) ends.push(at);
    for (const step of model.steps(state)) {
      const next = model.representative(step.next);
      const key = model.key(next);
      const index = known.get(key) ?? found.length;
      edges.push(at, index);
      if (index < found.length) continue;
      known.set(key, index);
      found.push({ key, from: at, depth: (found[at]?.depth ?? 0) + 1 });
      open.push(next);
    }
    if (found.length >= statesMax) return result(null, false);
  }
  const stuck = firstWithoutEnd(found.length, edges, ends);
  if (stuck === undefined) return result(null, true);
  return result({ why: "from here nobody can ever come to an end", trace: traceTo(model, found, stuck) }, true);
}

/** Walks the way again from the first state, so that everybody keeps their name from step to step. */
function traceTo<State>(model: Model<State>, found: readonly Found[], index: number): readonly string[] {
  const keys: string[] = [];
  for (let each = found[index]; each !== undefined && each.from >= 0; each = found[each.from]) keys.unshift(each.key);
  let state = model.initial;
  return keys.map((key) => {
    const step = model.steps(state).find(({ next }) => model.key(model.representative(next)) === key);
    if (step === undefined) throw new Error("the model treats its processes differently by name");
    state = step.next;
    return step.what;
  });
}

/** Walks the edges backwards from the ends; the first state (so one of the nearest) that was not met. */
function firstWithoutEnd(states: number, edges: readonly number[], ends: readonly number[]): number | undefined {
  const before: number[][] = Array.from({ length: states }, () => []);
  for (let i = 0; i < edges.length; i += 2) before[edges[i + 1] ?? 0]?.push(edges[i] ?? 0);
  const reached = new Uint8Array(states);
  const open = [...ends];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (reached[each] === 1) continue;
    reached[each] = 1;
    open.push(...(before[each] ?? []));
  }
  const stuck = reached.indexOf(0);
  return stuck < 0 ? undefined : stuck;
}

/** A counterexample as a numbered list. */
export function traceText({ why, trace }: Counterexample): string {
  return [...trace.map((what, index) => `${String(index + 1).padStart(3)}. ${what}`), `  => ${why}`].join("\n");
}
