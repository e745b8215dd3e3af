/**
 * The write lock as a model: three processes, each wants to append one line; any may crash or fall asleep before any step.
 *
 * `create`: the lock is a file `held`, made exclusively; a sleeper's is moved aside as evidence, and whoever takes the lock
 * while there is evidence writes a fence first. `kernel`: the lock dies with its holder and nobody takes it from a sleeper.
 * One step is one system call, or one read that a system call could follow. `Mistakes` are the ways to get it wrong.
 */
import type { Model, Step } from "./explore.ts";
import { acknowledge, holderStep, mayJudge } from "./holder.ts";
import { createStep } from "./lock-file.ts";
import {
  GONE,
  go,
  hasEnded,
  IDLE,
  key,
  type Moment,
  nameOf,
  representative,
  type State,
  type WriteLockBounds,
} from "./lock-state.ts";
import { brokenLog } from "./log.ts";

export function writeLockModel(bounds: WriteLockBounds): Model<State> {
  const processes = Array.from({ length: bounds.processes }, () => IDLE);
  const { crashes, sleeps } = bounds;
  const mistakes = bounds.mistakes ?? {};
  return {
    initial: {
      held: bounds.leftBehind === true ? GONE : "",
      evidence: {},
      note: 0,
      log: [],
      processes,
      crashes,
      sleeps,
    },
    steps: (state) =>
      state.processes.flatMap((process, index) => stepsOf({ state, process, index, mode: bounds.mode, mistakes })),
    representative,
    key,
    broken: (state) => brokenLog(state.log) ?? refusedWithoutCause(state, bounds),
    finished: (state) => state.processes.every(hasEnded),
  };
}

function refusedWithoutCause(state: State, bounds: WriteLockBounds): string | null {
  if (bounds.leftBehind === true || state.crashes < bounds.crashes || state.sleeps < bounds.sleeps) return null;
  const refused = state.processes.findIndex((process) => process.outcome === "refused");
  return refused < 0 ? null : `${nameOf(refused)} was refused although nobody crashed or slept`;
}

function stepsOf(moment: Moment): readonly Step<State>[] {
  const { state, process } = moment;
  if (hasEnded(process)) return [];
  if (process.asleep) return [go(moment, "wakes", { asleep: false })];
  return [
    ...(moment.mode === "kernel" ? kernelStep(moment) : createStep(moment)),
    ...(state.crashes > 0 ? [crash(moment)] : []),
    ...(state.sleeps > 0 ? [go(moment, "falls asleep", { asleep: true }, { sleeps: state.sleeps - 1 })] : []),
  ];
}

/** A process that is dead is one as all others: its generation and what it had seen do not matter any more. */
function crash(moment: Moment): Step<State> {
  const { state, index, mode } = moment;
  const held = mode === "kernel" && state.held === nameOf(index) ? "" : state.held;
  return go(moment, "crashes", { ...IDLE, at: "dead" }, { crashes: state.crashes - 1, held });
}

function kernelStep(moment: Moment): readonly Step<State>[] {
  const { state, process, index, mistakes } = moment;
  const me = nameOf(index);
  switch (process.at) {
    case "want":
      if (state.held === "") return [go(moment, "locks", { at: "number" }, { held: me })];
      if (mistakes.reclaimFromLive !== true || !mayJudge(moment)) return [];
      return [go(moment, `takes the lock from ${state.held}`, { at: "number" }, { held: me })];
    case "release": {
      const held = state.held === me ? "" : state.held;
      return [go(moment, "unlocks", { at: process.outcome }, { held })];
    }
    case "check":
      return [go(moment, "goes on under its lock", { at: "write" })];
    case "confirm":
      return [acknowledge(moment)];
    default:
      return holderStep(moment);
  }
}
