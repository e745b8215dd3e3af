/** The demo's words by language. */
import { en } from "./en.ts";
import type { Narration, Story, Words } from "./words.ts";
import { zh } from "./zh.ts";

const WORDS: Readonly<Record<"en" | "zh", Words>> = { en, zh };

export function storyIn(language: "en" | "zh"): Story {
  return WORDS[language].story;
}

export function narrationIn(language: "en" | "zh"): Narration {
  return WORDS[language].narration;
}
