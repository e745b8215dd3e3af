/** Tells a screen reader each new saved answer once; streamed words would be a stutter, old answers noise. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Row } from "../view/rows.ts";

export function Announcer({ rows, loaded }: { readonly rows: readonly Row[]; readonly loaded: boolean }): ReactNode {
  const last = useRef<string | null | undefined>(undefined);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (!loaded) return;
    const answer = rows.findLast((row) => row.kind === "answer" && row.saved);
    const isNew = last.current !== undefined && answer !== undefined && answer.id !== last.current;
    last.current = answer?.id ?? null;
    if (isNew && answer.kind === "answer") setWords(spoken(answer.text));
  }, [rows, loaded]);
  return (
    <div className="unseen" aria-live="polite">
      {words}
    </div>
  );
}

/** Without the marks of Markdown, which a voice would read out. */
function spoken(text: string): string {
  return text.replace(/[*_`#>|]+/g, "");
}
