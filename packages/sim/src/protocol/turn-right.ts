/**
 * The turn right as a model: three processes, each wants to work one turn of two lines on the same session.
 *
 * The write lock is taken as given (write-lock.ts): one holder, and a crash frees it. A lease runs out while its holder sleeps;
 * whether it has is what a claim finds. Any process may crash or fall asleep before any step.
 * Invariant of the real thing that is checked here: once a higher `t` was given, no line with a lower one is appended, and a
 * number never has two owners.
 */
import type { Model, Step } from "./explore.ts";

export interface TurnMistakes {
  /** Ask whether the right still counts before taking the write lock, not under it. */
  readonly checkOutsideLock?: boolean;
  readonly noCheck?: boolean;
  /** Take over a lease that ran out under its old number. */
  readonly keepNumber?: boolean;
}
export interface TurnBounds {
  readonly processes: number;
  readonly crashes: number;
  readonly sleeps: number;
  readonly mistakes?: TurnMistakes;
}

type Place =
  | "claim"
  | "claimLocked"
  | "claimed"
  | "work"
  | "checked"
  | "locked"
  | "write"
  | "written"
  | "end"
  | "endLocked"
  | "ended"
  | "done"
  | "stopped"
  | "dead";

interface Process {
  readonly at: Place;
  readonly asleep: boolean;
  readonly t: number;
  readonly written: number;
}
interface Line {
  readonly t: number;
  readonly by: string;
  /** The highest number that had been given when it was appended. */
  readonly given: number;
}
interface State {
  readonly lock: string;
  /** The note in the lock file: the number, and whose lease it is ("" when released). */
  readonly t: number;
  readonly lease: string;
  readonly log: readonly Line[];
  readonly processes: readonly Process[];
  readonly crashes: number;
  readonly sleeps: number;
}

const LINES_PER_TURN = 2;
const IDLE: Process = { at: "claim", asleep: false, t: 0, written: 0 };
const nameOf = (index: number): string => `P${index + 1}`;

export function turnRightModel({ processes, crashes, sleeps, mistakes = {} }: TurnBounds): Model<State> {
  return {
    initial: {
      lock: "",
      t: 0,
      lease: "",
      log: [],
      processes: Array.from({ length: processes }, () => IDLE),
      crashes,
      sleeps,
    },
    steps: (state) => state.processes.flatMap((process, index) => stepsOf({ state, process, index, mistakes })),
    representative: (state) => state,
    key: (state) => JSON.stringify(state),
    broken,
    finished: (state) => state.processes.every(hasEnded),
  };
}

function hasEnded({ at }: Process): boolean {
  return at === "done" || at === "stopped" || at === "dead";
}

function broken({ log }: State): string | null {
  const late = log.find((line) => line.t < line.given);
  if (late !== undefined) return `${late.by} appended under turn ${late.t} after turn ${late.given} was given`;
  const shared = log.find((line) => log.some((other) => other.t === line.t && other.by !== line.by));
  return shared === undefined ? null : `turn ${shared.t} has two owners`;
}

interface Moment {
  readonly state: State;
  readonly process: Process;
  readonly index: number;
  readonly mistakes: TurnMistakes;
}

function go(
  { state, process, index }: Moment,
  what: string,
  change: Partial<Process>,
  shared: Partial<State> = {},
): Step<State> {
  const processes = state.processes.with(index, { ...process, ...change });
  return { what: `${nameOf(index)} ${what}`, next: { ...state, ...shared, processes } };
}

function stepsOf(moment: Moment): readonly Step<State>[] {
  const { state, process, index } = moment;
  if (hasEnded(process)) return [];
  if (process.asleep) return [go(moment, "wakes", { asleep: false })];
  const lock = state.lock === nameOf(index) ? "" : state.lock;
  return [
    ...awakeStep(moment),
    ...(state.crashes > 0 ? [go(moment, "crashes", { at: "dead" }, { lock, crashes: state.crashes - 1 })] : []),
    ...(state.sleeps > 0 ? [go(moment, "falls asleep", { asleep: true }, { sleeps: state.sleeps - 1 })] : []),
  ];
}

function awakeStep(moment: Moment): readonly Step<State>[] {
  const { state, process, mistakes } = moment;
  switch (process.at) {
    case "claim":
      return lock(moment, "claimLocked");
    case "claimLocked":
      return [claim(moment)];
    case "claimed":
      return [go(moment, "unlocks", { at: process.t === 0 ? "claim" : "work" }, { lock: "" })];
    case "work":
      return mistakes.checkOutsideLock === true ? [check(moment, "checked")] : lock(moment, "locked");
    case "checked":
      return lock(moment, "write");
    case "locked":
      return [check(moment, "write")];
    case "write":
      return [append(moment)];
    case "written":
      return [go(moment, "unlocks", { at: process.written < LINES_PER_TURN ? "work" : "end" }, { lock: "" })];
    case "end":
      return lock(moment, "endLocked");
    case "endLocked": {
      const lease = state.t === process.t ? "" : state.lease;
      return [go(moment, "gives its right back", { at: "ended" }, { lease })];
    }
    case "ended":
      return [go(moment, "unlocks", { at: "done" }, { lock: "" })];
    default:
      return [];
  }
}

function lock(moment: Moment, at: Place): readonly Step<State>[] {
  if (moment.state.lock !== "") return [];
  return [go(moment, "locks", { at }, { lock: nameOf(moment.index) })];
}

/** The lease of a dead holder is taken at once, that of a sleeper when its time is over. */
function claim(moment: Moment): Step<State> {
  const { state, index, mistakes } = moment;
  const holder = state.processes.find((_, at) => nameOf(at) === state.lease);
  const held = holder !== undefined && !holder.asleep && holder.at !== "dead";
  if (held) return go(moment, `finds the right held by ${state.lease}`, { at: "claimed" });
  const t = mistakes.keepNumber === true && state.lease !== "" ? state.t : state.t + 1;
  return go(moment, `claims turn ${t}`, { at: "claimed", t }, { t, lease: nameOf(index) });
}

function check(moment: Moment, at: Place): Step<State> {
  const { state, process, index, mistakes } = moment;
  if (mistakes.noCheck === true || state.t <= process.t)
    return go(moment, `sees that turn ${process.t} still counts`, { at });
  const freed = state.lock === nameOf(index) ? "" : state.lock;
  return go(moment, `finds turn ${state.t} and stops`, { at: "stopped" }, { lock: freed });
}

function append(moment: Moment): Step<State> {
  const { state, process, index } = moment;
  const line: Line = { t: process.t, by: nameOf(index), given: state.t };
  return go(
    moment,
    `appends under turn ${process.t}`,
    { at: "written", written: process.written + 1 },
    { log: [...state.log, line] },
  );
}
