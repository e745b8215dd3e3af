/** The unsent text of a session, kept across reloads. */
import { useCallback, useState } from "react";
import { browser } from "../browser.ts";

const nameOf = (key: string): string => `holdfast.draft.${key}`;

/** For one key; remount (React `key`) for another. */
export function useDraft(key: string): readonly [string, (draft: string) => void] {
  const [draft, setDraft] = useState(() => browser.keep.get(nameOf(key)) ?? "");
  const change = useCallback(
    (next: string): void => {
      setDraft(next);
      browser.keep.set(nameOf(key), next === "" ? null : next);
    },
    [key],
  );
  return [draft, change];
}
