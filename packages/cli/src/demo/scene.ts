/**
 * What happens in one run of the demo, decided by its seed: which notes, which to-dos, which files, which one is asked about,
 * and where the process is killed. Pure.
 */
import { type Chance, chanceOf } from "./chance.ts";
import { storyIn } from "./text/index.ts";

export type Language = "en" | "zh";

/**
 * Where the process stands still and is killed. The first retry of the write reaches each point; `count` tells it from the
 * refused write before it.
 */
export interface Moment {
  readonly name: "after-effect" | "inside-effect" | "before-effect" | "before-intent";
  /** A fault point of the real program (docs/guide/cli.md). */
  readonly point: string;
  readonly count: number;
}

export const MOMENTS = {
  afterEffect: { name: "after-effect", point: "effect:after:write", count: 2 },
  // The new content lies beside the file, and has not taken its place.
  insideEffect: { name: "inside-effect", point: "write:before-rename", count: 1 },
  beforeEffect: { name: "before-effect", point: "effect:before:write", count: 2 },
  // Recorded before it: what was read, the intent and the refusal of the first write.
  beforeIntent: { name: "before-intent", point: "action:before-record", count: 4 },
} as const satisfies Record<string, Moment>;

export interface Scene {
  readonly seed: number;
  readonly language: Language;
  readonly moment: Moment;
  /** Paths inside the workspace, both in `directory`. */
  readonly directory: string;
  readonly notesPath: string;
  readonly todoPath: string;
  readonly notes: string;
  readonly items: readonly string[];
  /** From 0: the to-do that is asked about after the kill. */
  readonly asked: number;
  readonly sayFirst: string;
  readonly sayAgain: string;
  readonly sayAfter: string;
}

const DIRECTORIES = ["notes", "meetings", "minutes"] as const;
const NOTES_FILES = ["meeting.md", "weekly.md", "monday.md"] as const;
const TODO_FILES = ["todo.md", "todo.md", "actions.md", "next-steps.md"] as const;

/** Half of the seeds, 1 among them, are killed in the window the story is about: done, but not recorded. */
function momentOf(seed: number): Moment {
  const { beforeIntent, beforeEffect, insideEffect, afterEffect } = MOMENTS;
  const moments = [beforeEffect, afterEffect, beforeIntent, afterEffect, insideEffect, afterEffect] as const;
  return moments[seed % moments.length]!;
}

function placesOf(seed: number, chance: Chance): { directory: string; notesFile: string; todoFile: string } {
  const places = {
    directory: chance.pick(DIRECTORIES),
    notesFile: chance.pick(NOTES_FILES),
    todoFile: chance.pick(TODO_FILES),
  };
  return seed === 1 ? { directory: "notes", notesFile: "meeting.md", todoFile: "todo.md" } : places;
}

export function sceneOf(seed: number, language: Language): Scene {
  const chance = chanceOf(seed);
  const story = storyIn(language);
  const { directory, notesFile, todoFile } = placesOf(seed, chance);
  const items = chance.some(story.items, 3 + Math.floor(chance.next() * 2));
  const asked = seed === 1 ? 1 : Math.floor(chance.next() * items.length);
  const notesPath = `${directory}/${notesFile}`;
  const todoPath = `${directory}/${todoFile}`;
  return {
    seed,
    language,
    moment: momentOf(seed),
    directory,
    notesPath,
    todoPath,
    notes: story.notes(items, chance),
    items,
    asked,
    sayFirst: story.sayFirst(notesPath, todoPath),
    sayAgain: story.sayAgain,
    sayAfter: story.sayAfter(asked),
  };
}
