/**
 * What the holder of the write lock does in both modes: number, fence, catch up, append, acknowledge.
 * Invariant of the order: the generation is kept in the lock file before the check that precedes the write; whoever comes later
 * than that check has a higher one.
 */
import type { Step } from "./explore.ts";
import { go, type Moment, nameOf, hasEnded, type Place, type State } from "./lock-state.ts";
import { greatestG, type Line, leafOf } from "./log.ts";

/** Gone: dead, or not renewing because it sleeps or because that hold is over. Who is awake and holds it may not be judged. */
export function mayJudge({ state, mistakes }: Moment): boolean {
  const holder = state.processes.find((_, index) => nameOf(index) === state.held);
  return holder === undefined || holder.asleep || hasEnded(holder) || mistakes.reclaimFromLive === true;
}

/** What holders do in both modes. */
export function holderStep(moment: Moment): readonly Step<State>[] {
  const { state, process, mistakes } = moment;
  switch (process.at) {
    case "number": {
      const g = Math.max(state.note, greatestG(state.log)) + 1;
      return [go(moment, `takes generation ${g}`, { at: mistakes.noteAfterCheck ? afterNote(moment) : "note", g })];
    }
    case "note":
      return [
        go(
          moment,
          "keeps its generation",
          { at: mistakes.noteAfterCheck ? "write" : afterNote(moment) },
          { note: process.g },
        ),
      ];
    case "fence":
      return [
        go(moment, `appends fence ${process.g}`, { at: "catchUp" }, { log: [...state.log, lineOf(moment, "fence")] }),
      ];
    case "catchUp": {
      const at = process.seen.length > 0 ? "clear" : "check";
      return [go(moment, "catches up", { at, parent: leafOf(state.log), mustFence: false })];
    }
    case "write":
      return [
        go(
          moment,
          "appends its line and syncs",
          { at: "confirm", g: 0, parent: -1 },
          { log: [...state.log, lineOf(moment, "line")] },
        ),
      ];
    default:
      return [];
  }
}

function afterNote({ process, mistakes }: Moment): Place {
  return process.mustFence && mistakes.skipFence !== true ? "fence" : "catchUp";
}

function lineOf({ process, index }: Moment, kind: Line["kind"]): Line {
  return { kind, g: process.g, by: nameOf(index), parent: kind === "line" ? process.parent : -1, acknowledged: false };
}

export function acknowledge(moment: Moment): Step<State> {
  const me = nameOf(moment.index);
  const log = moment.state.log.map((line) =>
    line.kind === "line" && line.by === me ? { ...line, acknowledged: true } : line,
  );
  return go(moment, "acknowledges its line", { at: "release" }, { log });
}
