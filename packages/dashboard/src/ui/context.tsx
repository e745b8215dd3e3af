/** What every part of the page may read: wording, language and the present minute. */
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { browser, every } from "../browser.ts";
import type { Live, View } from "../live/live.ts";
import { en, type Text } from "../text/en.ts";

const TextContext = createContext<Text>(en);
export const TextProvider = TextContext.Provider;

export function useText(): Text {
  return useContext(TextContext);
}

const NOW_STEP_MS = 20_000;

/** Milliseconds since 1970 UTC, renewed often enough for relative times. */
export function useNow(): number {
  const [now, setNow] = useState(browser.clock.nowMs);
  useEffect(() => every(NOW_STEP_MS, () => setNow(browser.clock.nowMs())), []);
  return now;
}

export function useView(live: Live): View {
  return useSyncExternalStore(live.subscribe, live.view);
}
