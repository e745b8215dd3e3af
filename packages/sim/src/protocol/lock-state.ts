/**
 * The state of the write lock's model: the files, and where each process stands; and which states are the same.
 * Invariant: nothing depends on a process's name. Names are given anew by what the processes are, so that states which differ
 * only in who is who are looked at once.
 */
import type { Step } from "./explore.ts";
import type { Log } from "./log.ts";

export interface Mistakes {
  readonly skipFence?: boolean;
  /** Put a lock that was moved aside by mistake back with rename(2), which replaces, instead of link(2). */
  readonly putBackByRename?: boolean;
  readonly noCheckBeforeWrite?: boolean;
  readonly noCheckAfterSync?: boolean;
  /** Judge a holder by age alone, though it lives and is awake. */
  readonly reclaimFromLive?: boolean;
  /** All evidence under one name, `held.reclaim`, instead of one name for each act of moving. */
  readonly oneEvidenceName?: boolean;
  /** Release by looking whether `held` is ours and unlinking it then, instead of moving it aside first. */
  readonly releaseByUnlink?: boolean;
  /** Keep the generation in the lock file only after the check that precedes the write. */
  readonly noteAfterCheck?: boolean;
}

export interface WriteLockBounds {
  readonly mode: "create" | "kernel";
  readonly processes: number;
  readonly crashes: number;
  readonly sleeps: number;
  /** `create` only: begins with the lock of a process that is dead. */
  readonly leftBehind?: boolean;
  readonly mistakes?: Mistakes;
}

export type Place =
  | "want"
  | "move"
  | "read"
  | "putBack"
  | "drop"
  | "look"
  | "number"
  | "note"
  | "fence"
  | "catchUp"
  | "clear"
  | "check"
  | "write"
  | "confirm"
  | "release"
  | "unlink"
  | "releaseRead"
  | "done"
  | "refused"
  | "dead";

export interface Process {
  readonly at: Place;
  readonly asleep: boolean;
  /** How it ends once the lock is given back. */
  readonly outcome: "done" | "refused";
  /** Whose lock it means to move. */
  readonly judged: string;
  readonly releasing: boolean;
  readonly g: number;
  readonly parent: number;
  /** It moved somebody's lock aside, or found evidence that somebody did: a fence comes first. */
  readonly mustFence: boolean;
  /** Evidence it found when it took the lock. */
  readonly seen: readonly string[];
}

export interface State {
  /** The name in the lock file, or "". A name stands for an inode too: a hard link keeps it. */
  readonly held: string;
  /** Moved locks: the name of the file → whose lock it was. */
  readonly evidence: Readonly<Record<string, string>>;
  /** The generation kept in the lock file that is never unlinked. */
  readonly note: number;
  readonly log: Log;
  readonly processes: readonly Process[];
  readonly crashes: number;
  readonly sleeps: number;
}

export const IDLE: Process = {
  at: "want",
  asleep: false,
  outcome: "done",
  judged: "",
  releasing: false,
  g: 0,
  parent: -1,
  mustFence: false,
  seen: [],
};

/** The holder that was dead before anything began. */
export const GONE = "P0";

export const nameOf = (index: number): string => `P${index + 1}`;

export function hasEnded({ at }: Process): boolean {
  return at === "done" || at === "refused" || at === "dead";
}

export function key({ held, evidence, note, log, processes, crashes, sleeps }: State): string {
  const lines = log.map(({ kind, g, by, parent, acknowledged }) => `${kind}${g}${by}${parent}${acknowledged}`);
  return JSON.stringify([held, evidence, note, lines, processes.map((each) => Object.values(each)), crashes, sleeps]);
}

/** Processes in an order that does not come from their names, and named by it. */
export function representative(state: State): State {
  const marks = state.processes.map((each, index) => {
    const lines = state.log.flatMap(({ by }, at) => (by === nameOf(index) ? [at] : []));
    const moved = state.evidence[`held.reclaim.${nameOf(index)}`] !== undefined;
    return `${each.at} ${each.asleep} ${each.g} ${lines} ${state.held === nameOf(index)} ${moved} ${each.mustFence}`;
  });
  const order = marks.map((_, index) => index).toSorted((a, b) => ((marks[a] ?? "") < (marks[b] ?? "") ? -1 : 1));
  const names = new Map(order.map((from, to) => [nameOf(from), nameOf(to)]));
  const name = (old: string): string => names.get(old) ?? old;
  const file = (old: string): string => old.replace(/P\d+$/, name);
  return {
    ...state,
    held: name(state.held),
    evidence: Object.fromEntries(
      Object.entries(state.evidence)
        .map(([moved, whose]) => [file(moved), name(whose)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
    log: state.log.map((line) => ({ ...line, by: name(line.by) })),
    processes: order.map((from) => {
      const process = state.processes[from] ?? IDLE;
      return { ...process, judged: name(process.judged), seen: process.seen.map(file).toSorted() };
    }),
  };
}

/** One process at one moment. */
export interface Moment {
  readonly state: State;
  readonly process: Process;
  readonly index: number;
  readonly mode: WriteLockBounds["mode"];
  readonly mistakes: Mistakes;
}

export function go(moment: Moment, what: string, process: Partial<Process>, shared: Partial<State> = {}): Step<State> {
  const { state, index } = moment;
  const after = { ...moment.process, ...process };
  const { at, outcome } = after;
  // How an ended process came to its end does not matter any more.
  const processes = state.processes.with(index, hasEnded(after) ? { ...IDLE, at, outcome } : after);
  return { what: `${nameOf(index)} ${what}`, next: { ...state, ...shared, processes } };
}
