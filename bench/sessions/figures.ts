/**
 * The figures that must hold, each as a ratio or a number of one round, with its goal. A round's values are named
 * `<step>.<value>`; steps are in steps.ts. A figure whose step did not run in a round is left out of it.
 */

export type Round = Readonly<Record<string, number>>;

export interface Figure {
  readonly name: string;
  readonly goal: string;
  readonly unit: string;
  readonly of: (round: Round) => number;
  /** Left out: measured for comparison only. */
  readonly isMet?: (value: number) => boolean;
  /** Where several ways of meeting the goal exist, the measured value of the other one in the same round. */
  readonly note?: (round: Round) => string;
}

const at = (round: Round, name: string): number => round[name] ?? Number.NaN;
const ratio =
  (above: string, below: string) =>
  (round: Round): number =>
    at(round, above) / at(round, below);
const value =
  (name: string) =>
  (round: Round): number =>
    at(round, name);

function atMost(most: number, unit: string): Pick<Figure, "goal" | "isMet" | "unit"> {
  return { goal: `<= ${most} ${unit}`, isMet: (found) => found <= most, unit };
}

function atLeast(least: number, unit: string): Pick<Figure, "goal" | "isMet" | "unit"> {
  return { goal: `>= ${least} ${unit}`, isMet: (found) => found >= least, unit };
}

const compared: Pick<Figure, "goal"> = { goal: "(compared)" };
const ms = (round: Round, name: string): string => {
  const found = at(round, name);
  return `${found.toFixed(found < 0.1 ? 4 : found < 10 ? 2 : 0)} ms`;
};
const both =
  (a: string, b: string) =>
  (round: Round): string =>
    `${ms(round, a)} : ${ms(round, b)}`;

const OPENING: readonly Figure[] = [
  {
    name: "open + context, 100,000 entries : 1,000 entries",
    ...atMost(1.5, "x"),
    of: ratio("open-large.ms", "open-small.ms"),
    note: both("open-large.ms", "open-small.ms"),
  },
  {
    name: "open + context, 100,000 entries : read and parse the tail",
    ...atMost(3, "x"),
    of: ratio("open-large.ms", "limit-large.ms"),
    note: both("open-large.ms", "limit-large.ms"),
  },
  {
    name: "the same, nothing beside the transcript",
    ...atMost(5, "x"),
    of: ratio("open-alone.ms", "limit-large.ms"),
    note: both("open-alone.ms", "limit-large.ms"),
  },
  {
    name: "open + context : read and parse the tail, both again and again in one process",
    ...compared,
    unit: "x",
    of: ratio("warm.session", "warm.limit"),
    note: both("warm.session", "warm.limit"),
  },
  {
    name: "memory added by opening 100,000 entries, less that of 1,000",
    ...atMost(5, "MB"),
    of: (round) => at(round, "open-large.mb") - at(round, "open-small.mb"),
    note: (round) =>
      `${at(round, "open-large.mb").toFixed(1)} MB; the limit ${at(round, "limit-large.mb").toFixed(1)} MB`,
  },
  {
    name: "places of 100,000 entries found anew : scan of the lines",
    ...atMost(3, "x"),
    of: ratio("index-cold.ms", "scan.ms"),
    note: both("index-cold.ms", "scan.ms"),
  },
  {
    name: "longest stall while the places are found, or taken from what was kept",
    ...atMost(50, "ms"),
    of: value("index-stall.stallMs"),
    note: (round) => `${ms(round, "index-stall.stallCpuMs")} computing`,
  },
  {
    name: "longest stall while opening 100,000 live entries (129 MB)",
    ...atMost(50, "ms"),
    of: value("open-stall.stallMs"),
    note: (round) => `${ms(round, "open-stall.stallCpuMs")} computing, ${ms(round, "open-stall.ms")} in all`,
  },
  {
    name: "memory added by 800 chats of 500 KB, one after another (B134)",
    ...atMost(100, "MB"),
    of: value("chats.mb"),
    note: (round) => `${at(round, "chats.peakMb").toFixed(0)} MB at the highest`,
  },
  { name: "the first of 100,000 entries, places kept", ...compared, unit: "ms", of: value("index-warm.ms") },
  {
    name: "context of a bare file with its settings : read and parse the tail",
    ...compared,
    unit: "x",
    of: ratio("context.ms", "limit-large.ms"),
    note: both("context.ms", "limit-large.ms"),
  },
  {
    name: "Pi 1.6.0, open + context : ours",
    ...compared,
    unit: "x",
    of: ratio("pi.ms", "open-large.ms"),
    note: (round) => `${ms(round, "pi.ms")}, ${at(round, "pi.mb").toFixed(0)} MB`,
  },
];

const APPENDING: readonly Figure[] = [
  {
    name: "durable append, one writer: of a bare write + fdatasync",
    goal: ">= 0.8 x, or <= 0.15 ms more",
    unit: "ms too much",
    of: (round) =>
      Math.max(0, at(round, "append.one") - Math.max(at(round, "append.bare") / 0.8, at(round, "append.bare") + 0.15)),
    isMet: (missing) => missing === 0,
    note: both("append.one", "append.bare"),
  },
  {
    name: "durable append, one writer : write and fdatasync without blocking",
    ...compared,
    unit: "x",
    of: ratio("append.one", "append.bareAsync"),
    note: both("append.one", "append.bareAsync"),
  },
  {
    name: "64 at a time to one session : bare loop",
    ...atLeast(5, "x"),
    of: ratio("append.bareMean", "append.wide"),
    note: both("append.wide", "append.bareMean"),
  },
  {
    name: "64 at a time over 64 sessions, 4 threads : bare loop",
    ...atLeast(1.5, "x"),
    of: ratio("append-many-4.bareMean", "append-many-4.wide"),
    note: both("append-many-4.wide", "append-many-4.bareMean"),
  },
  {
    name: "64 at a time over 64 sessions, 16 threads : bare loop",
    ...atLeast(3, "x"),
    of: ratio("append-many-16.bareMean", "append-many-16.wide"),
    note: both("append-many-16.wide", "append-many-16.bareMean"),
  },
  {
    name: "not durable, one writer : bare write",
    ...atLeast(0.7, "x"),
    of: ratio("append-never.bare", "append-never.one"),
    note: both("append-never.one", "append-never.bare"),
  },
  {
    name: "not durable, one writer : write without blocking",
    ...compared,
    unit: "x",
    of: ratio("append-never.one", "append-never.bareAsync"),
    note: both("append-never.one", "append-never.bareAsync"),
  },
  {
    name: "not durable, 64 at a time to one session : bare write",
    ...compared,
    unit: "x",
    of: ratio("append-never.bareMean", "append-never.wide"),
    note: both("append-never.wide", "append-never.bareMean"),
  },
];

const INDEX: readonly Figure[] = [
  {
    name: "index update among 100,000 rows : among 100",
    ...atMost(2, "x"),
    of: ratio("update-large.update", "update-small.update"),
    note: both("update-large.update", "update-small.update"),
  },
  {
    name: "index update among 100,000 rows : one synced line",
    ...atMost(2, "x"),
    of: ratio("update-large.update", "update-large.bare"),
    note: both("update-large.update", "update-large.bare"),
  },
  { name: "the 50 latest of 100,000, warm", ...atMost(1, "ms"), of: value("list.list") },
  { name: "the first such list of a process", ...compared, unit: "ms", of: value("list.first") },
  {
    name: "longest stall while listing first",
    ...atMost(50, "ms"),
    of: value("list.firstStallMs"),
    note: (round) => `${ms(round, "list.firstStallCpuMs")} computing`,
  },
  { name: "start with 100,000 rows: index ready", ...atMost(1000, "ms"), of: value("start.ms") },
  {
    name: "longest stall while starting",
    ...atMost(50, "ms"),
    of: value("start.stallMs"),
    note: (round) => `${ms(round, "start.stallCpuMs")} computing`,
  },
  {
    name: "longest stall while folding",
    ...atMost(50, "ms"),
    of: value("fold.stallMs"),
    note: (round) => `${ms(round, "fold.stallCpuMs")} computing, ${ms(round, "fold.ms")} in all`,
  },
];

export const FIGURES: readonly Figure[] = [...OPENING, ...APPENDING, ...INDEX];
