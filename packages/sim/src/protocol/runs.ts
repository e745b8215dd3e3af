/**
 * Which models are explored how far. The small runs fit into a test; the large ones into some minutes.
 * A mistake stands beside the smallest run that shows it: a model that cannot find it would prove nothing.
 */
import { type Exploration, explore } from "./explore.ts";
import { type FoldBounds, foldModel } from "./index-fold.ts";
import { type TurnBounds, turnRightModel } from "./turn-right.ts";
import type { WriteLockBounds } from "./lock-state.ts";
import { writeLockModel } from "./write-lock.ts";

export interface Run {
  readonly name: string;
  readonly explore: (statesMax: number) => Exploration;
}

function lockRun(bounds: WriteLockBounds): Run {
  return { name: `write lock ${named(bounds)}`, explore: (statesMax) => explore(writeLockModel(bounds), statesMax) };
}
function turnRun(bounds: TurnBounds): Run {
  return { name: `turn right ${named(bounds)}`, explore: (statesMax) => explore(turnRightModel(bounds), statesMax) };
}
function foldRun({ mistakes = {}, ...bounds }: FoldBounds): Run {
  const { changes, folders, crashes } = bounds;
  const wrong = Object.keys(mistakes).map((each) => `: ${each}`);
  return {
    name: `index (${changes} changes, ${folders} folds, 1 reader, ${crashes} crash(es))${wrong.join("")}`,
    explore: (statesMax) => explore(foldModel({ ...bounds, mistakes }), statesMax),
  };
}
function named(bounds: WriteLockBounds | TurnBounds): string {
  const mode = "mode" in bounds ? `${bounds.mode}, ` : "";
  const left = "leftBehind" in bounds && bounds.leftBehind ? "a lock left behind, " : "";
  const mistakes = Object.keys(bounds.mistakes ?? {}).join(" + ");
  const faults = `${bounds.crashes} crash(es), ${bounds.sleeps} sleep(s)`;
  return `(${mode}${left}${bounds.processes} processes, ${faults})${mistakes === "" ? "" : `: ${mistakes}`}`;
}

const three = { processes: 3, crashes: 0, sleeps: 0 };
const create = { ...three, mode: "create" } as const;
const fold = { changes: 2, folders: 1, crashes: 1 };
const kernel = { ...three, mode: "kernel" } as const;

export const SMALL: readonly Run[] = [
  lockRun({ ...kernel, crashes: 2, sleeps: 2 }),
  lockRun({ ...create, crashes: 1 }),
  lockRun({ ...create, processes: 2, crashes: 1, sleeps: 1 }),
  lockRun({ ...create, processes: 2, sleeps: 1, leftBehind: true }),
  turnRun({ ...three, crashes: 1 }),
  turnRun({ ...three, processes: 2, crashes: 1, sleeps: 2 }),
  foldRun({ changes: 2, folders: 1, crashes: 1 }),
];

export const LARGE: readonly Run[] = [
  ...SMALL,
  lockRun({ ...create, leftBehind: true }),
  lockRun({ ...create, sleeps: 1 }),
  lockRun({ ...create, crashes: 1, sleeps: 1 }),
  lockRun({ ...create, crashes: 1, leftBehind: true }),
  lockRun({ ...create, processes: 4, crashes: 1 }),
  turnRun({ ...three, crashes: 1, sleeps: 1 }),
  turnRun({ ...three, crashes: 1, sleeps: 2 }),
  foldRun({ changes: 3, folders: 2, crashes: 2 }),
];

export const MISTAKEN: readonly Run[] = [
  lockRun({ ...kernel, sleeps: 1, mistakes: { reclaimFromLive: true } }),
  lockRun({ ...create, mistakes: { reclaimFromLive: true } }),
  lockRun({ ...create, sleeps: 1, mistakes: { skipFence: true } }),
  lockRun({ ...create, sleeps: 1, mistakes: { noCheckAfterSync: true } }),
  lockRun({ ...create, crashes: 1, mistakes: { noCheckBeforeWrite: true } }),
  lockRun({ ...create, sleeps: 1, mistakes: { noteAfterCheck: true } }),
  lockRun({ ...create, sleeps: 1, mistakes: { releaseByUnlink: true } }),
  lockRun({ ...create, leftBehind: true, mistakes: { oneEvidenceName: true } }),
  // With link(2) this run passes, although all evidence has one name.
  lockRun({ ...create, crashes: 1, mistakes: { oneEvidenceName: true, putBackByRename: true } }),
  turnRun({ ...three, sleeps: 1, mistakes: { noCheck: true } }),
  turnRun({ ...three, sleeps: 1, mistakes: { checkOutsideLock: true } }),
  turnRun({ ...three, sleeps: 1, mistakes: { keepNumber: true } }),
  foldRun({ ...fold, mistakes: { beginOutsideLock: true } }),
  foldRun({ ...fold, mistakes: { deleteFirst: true } }),
  foldRun({ ...fold, mistakes: { listOnce: true } }),
];
