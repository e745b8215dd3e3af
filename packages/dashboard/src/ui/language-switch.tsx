/** English and Chinese, one press away; the choice is remembered. */
import type { ReactNode } from "react";
import { LANGUAGES, type Language } from "../text/language.ts";
import { useText } from "./context.tsx";

export interface LanguageSwitchProps {
  readonly current: Language;
  readonly onChoose: (language: Language) => void;
}

export function LanguageSwitch({ current, onChoose }: LanguageSwitchProps): ReactNode {
  const text = useText();
  const other = current === "en" ? "zh" : "en";
  return (
    <button
      type="button"
      className="language"
      lang={LANGUAGES[other].locale}
      title={text.language}
      onClick={() => onChoose(other)}
    >
      {LANGUAGES[other].languageName}
    </button>
  );
}
