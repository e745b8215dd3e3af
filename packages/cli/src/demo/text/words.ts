/** What the demo can say, in whichever language: both tables have this shape, and the compiler checks it. */
import type { Chance } from "../chance.ts";

/** What the people in the story wrote and say. */
export interface Story {
  readonly items: readonly string[];
  notes(items: readonly string[], chance: Chance): string;
  sayFirst(notesPath: string, todoPath: string): string;
  readonly sayAgain: string;
  /** `asked` counts from 0. */
  sayAfter(asked: number): string;
}

/** What the narrator says. */
export interface Narration {
  title(seed: number): string;
  home(path: string): string;
  starts(pid: number): string;
  readOnly(directory: string): string;
  readonly you: string;
  readonly granted: string;
  grants(directory: string): string;
  standsStill(point: string): string;
  readonly onDisk: string;
  fileIs(path: string, bytes: number, inode: string): string;
  fileIsNot(path: string): string;
  readonly inLog: string;
  logHas(intents: number, results: number): string;
  killed(pid: number): string;
  startsAgain(pid: number): string;
  readonly verdict: string;
  verdictMeans(verdict: string): string;
  readonly evidence: string;
  /** `planned` and `now` are SHA-256 in hex, or null where there is none. */
  comparison(planned: string, now: string | null): string;
  readonly noIntent: string;
  readonly writes: string;
  writesSeen(count: number): string;
  readonly goesOn: string;
  good(path: string, seconds: string): string;
  bad(what: string): string;
  kept(path: string): string;
  readonly verdictsTitle: string;
  /** What is going to be known of the call. */
  verdictStep(verdict: string): string;
  readonly modelReads: string;
  readonly somebodyElse: string;
  readonly everythingKilled: string;
  verdictsGood(seconds: string): string;
}

export interface Words {
  readonly story: Story;
  readonly narration: Narration;
}

/** The beginning of a hash, enough to compare by eye. */
export function short(hash: string): string {
  return hash.slice(0, 12);
}
