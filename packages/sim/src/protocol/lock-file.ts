/**
 * The lock as a file: made exclusively, moved aside by rename(2), put back by link(2).
 * Invariant: a lock that leaves its place while its holder may still write stays as evidence until a later holder has fenced.
 * A name alone cannot be unlinked safely (it may be somebody else's by then), so also a release moves the lock aside and looks.
 */
import type { Step } from "./explore.ts";
import { acknowledge, holderStep, mayJudge } from "./holder.ts";
import { go, type Moment, nameOf, type State } from "./lock-state.ts";
import { isStaleAt } from "./log.ts";

export function createStep(moment: Moment): readonly Step<State>[] {
  switch (moment.process.at) {
    case "want":
      return want(moment);
    case "move":
      return [move(moment)];
    case "read":
    case "releaseRead":
      return [readMoved(moment)];
    case "putBack":
      return [putBack(moment)];
    case "drop":
      return [drop(moment)];
    case "look":
      return [look(moment)];
    case "clear":
      return [clear(moment)];
    case "check":
      return [check(moment)];
    case "confirm":
      return [confirm(moment)];
    case "release":
    case "unlink":
      return [release(moment)];
    default:
      return holderStep(moment);
  }
}

function want(moment: Moment): readonly Step<State>[] {
  const { state, index } = moment;
  const me = nameOf(index);
  if (state.held === "") return [go(moment, "creates held", { at: "look", judged: "" }, { held: me })];
  if (state.held === me) return [];
  return mayJudge(moment) ? [go(moment, `judges ${state.held} to be gone`, { at: "move", judged: state.held })] : [];
}

/** A lock under its own holder's name is being given back, by somebody who has written everything: no evidence. */
function look(moment: Moment): Step<State> {
  const { state, process } = moment;
  const isRelease = (name: string): boolean => name === `held.reclaim.${state.evidence[name]}`;
  const [released = [], seen = []] = [true, false].map((kind) =>
    Object.keys(state.evidence).filter((name) => isRelease(name) === kind),
  );
  const mustFence = process.mustFence || seen.length > 0;
  const what = `looks for evidence: ${seen.length === 0 ? "none" : "found"}`;
  const evidence = without(state.evidence, released);
  return go(moment, what, { at: "number", seen: seen.toSorted(), mustFence }, { evidence });
}

/** The file that a process moves the lock to. */
function evidenceName({ mistakes, index }: Moment): string {
  return mistakes.oneEvidenceName === true ? "held.reclaim" : `held.reclaim.${nameOf(index)}`;
}

/** rename(2). Between two names of one inode it does nothing and says that all went well. */
function move(moment: Moment): Step<State> {
  const { state, process } = moment;
  const back = process.releasing ? process.outcome : "want";
  if (state.held === "") return go(moment, "finds no held to move", { at: back, judged: "" });
  const name = evidenceName(moment);
  const at = process.releasing ? "releaseRead" : "read";
  if (state.evidence[name] === state.held)
    return go(moment, "renames held to its own second name: nothing happens", { at });
  return go(
    moment,
    `moves held (${state.held}) aside`,
    { at },
    { held: "", evidence: { ...state.evidence, [name]: state.held } },
  );
}

function readMoved(moment: Moment): Step<State> {
  const { state, process } = moment;
  const moved = state.evidence[evidenceName(moment)];
  const back = process.releasing ? process.outcome : "want";
  if (moved === undefined) return go(moment, "finds that what it moved is gone", { at: back, judged: "" });
  if (moved !== process.judged)
    return go(moment, `reads that it moved ${moved}, not ${process.judged}`, { at: "putBack" });
  const reclaimed = { at: "want", judged: "", mustFence: true } as const;
  return go(moment, `reads that it moved ${moved}`, process.releasing ? { at: "drop", judged: "" } : reclaimed);
}

function putBack(moment: Moment): Step<State> {
  const { state, process, mistakes } = moment;
  const back = process.releasing ? process.outcome : "want";
  const moved = state.evidence[evidenceName(moment)];
  if (moved === undefined) return go(moment, "has nothing to put back", { at: back, judged: "" });
  if (mistakes.putBackByRename === true) {
    const evidence = without(state.evidence, [evidenceName(moment)]);
    return go(moment, `renames ${moved} back`, { at: back, judged: "" }, { held: moved, evidence });
  }
  if (state.held !== "") return go(moment, "cannot put it back: held is there", { at: back, judged: "" });
  return go(moment, `links ${moved} back`, { at: "drop", judged: "" }, { held: moved });
}

function drop(moment: Moment): Step<State> {
  const { state, process } = moment;
  const evidence = without(state.evidence, [evidenceName(moment)]);
  return go(moment, "unlinks what it moved", { at: process.releasing ? process.outcome : "want" }, { evidence });
}

function without(evidence: State["evidence"], names: readonly string[]): State["evidence"] {
  return Object.fromEntries(Object.entries(evidence).filter(([name]) => !names.includes(name)));
}

function clear(moment: Moment): Step<State> {
  const evidence = without(moment.state.evidence, moment.process.seen);
  return go(moment, "unlinks the evidence it had seen", { at: "check", seen: [] }, { evidence });
}

function check(moment: Moment): Step<State> {
  const { state, index, mistakes } = moment;
  const ours = state.held === nameOf(index) || mistakes.noCheckBeforeWrite === true;
  if (!ours) return go(moment, "finds before writing that it lost the lock", { at: "release", outcome: "refused" });
  return go(moment, "checks before writing: still its lock", { at: mistakes.noteAfterCheck ? "note" : "write" });
}

/** After the sync: still our lock, and no higher fence before our line. */
function confirm(moment: Moment): Step<State> {
  const { state, index, mistakes } = moment;
  const mine = state.log.findIndex((line) => line.kind === "line" && line.by === nameOf(index));
  const ours = state.held === nameOf(index) && !isStaleAt(state.log, mine);
  if (ours || mistakes.noCheckAfterSync === true) return acknowledge(moment);
  return go(moment, "finds after the sync that it lost the lock", { at: "release", outcome: "refused" });
}

function release(moment: Moment): Step<State> {
  const { state, process, index, mistakes } = moment;
  const me = nameOf(index);
  if (process.at === "unlink")
    return go(moment, `unlinks held (${state.held || "none"})`, { at: process.outcome }, { held: "" });
  if (state.held !== me) return go(moment, "has no lock to give back", { at: process.outcome });
  if (mistakes.releaseByUnlink === true) return go(moment, "sees that held is its own", { at: "unlink" });
  return go(moment, "sees that held is its own", { at: "move", releasing: true, judged: me });
}
