/** Which language the page speaks: what was chosen here before, else what the browser prefers. */
import type { Keep } from "../live/outside.ts";
import { en, type Text } from "./en.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";
export const LANGUAGES: Readonly<Record<Language, Text>> = { en, zh };

const NAME = "holdfast.language";

export function chosenLanguage(keep: Keep, preferred: readonly string[]): Language {
  const kept = keep.get(NAME);
  if (kept === "en" || kept === "zh") return kept;
  const first = preferred.find((tag) => /^(en|zh)\b/i.test(tag)) ?? "en";
  return /^zh/i.test(first) ? "zh" : "en";
}

export function chooseLanguage(keep: Keep, language: Language): void {
  keep.set(NAME, language);
}

/** The language of a text as far as line height and width care: Chinese when a good part of it is Han script. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, 400);
  const han = sample.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  return letters > 0 && han / letters > 0.2 ? "zh" : "en";
}
