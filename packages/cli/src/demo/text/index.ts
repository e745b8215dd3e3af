/** The demo's words by language; both tables have the same shape, which the compiler checks. */
import type { Chance } from "../chance.ts";
import { en } from "./en.ts";
import { zh } from "./zh.ts";

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
  readonly writes: string;
  writesSeen(count: number): string;
  readonly goesOn: string;
  good(path: string, seconds: string): string;
  bad(what: string): string;
  kept(path: string): string;
}

export interface Words {
  readonly story: Story;
  readonly narration: Narration;
}

const WORDS: Readonly<Record<"en" | "zh", Words>> = { en, zh };

export function storyIn(language: "en" | "zh"): Story {
  return WORDS[language].story;
}

export function narrationIn(language: "en" | "zh"): Narration {
  return WORDS[language].narration;
}
