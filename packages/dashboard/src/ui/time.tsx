/** A time: relative to read, exact on hover. */
import type { ReactNode } from "react";
import { exactTime, relativeTime } from "../text/time.ts";
import { useNow, useText } from "./context.tsx";

interface TimeProps {
  readonly at: number;
  readonly style?: "long" | "narrow";
}

export function Time({ at, style = "long" }: TimeProps): ReactNode {
  const { locale } = useText();
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at, locale)}>
      {relativeTime(at, now, locale, style)}
    </time>
  );
}
