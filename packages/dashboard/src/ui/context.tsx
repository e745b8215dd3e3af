/** What every part of the page may read: wording, language and the present minute. */
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { browser, every } from "../browser.ts";
import type { View } from "../live/board.ts";
import type { Live } from "../live/live.ts";
import { en, type Text } from "../text/en.ts";

const TextContext = createContext<Text>(en);
export const TextProvider = TextContext.Provider;

export function useText(): Text {
  return useContext(TextContext);
}

const NOW_STEP_MS = 20_000;
const NowContext = createContext(0);

/** One clock for all times on the page, renewed often enough for relative ones. */
export function NowProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [now, setNow] = useState(browser.clock.nowMs);
  useEffect(() => every(NOW_STEP_MS, () => setNow(browser.clock.nowMs())), []);
  return <NowContext value={now}>{children}</NowContext>;
}

/** Milliseconds since 1970 UTC. */
export function useNow(): number {
  return useContext(NowContext);
}

export function useView(live: Live): View {
  return useSyncExternalStore(live.subscribe, live.view);
}
