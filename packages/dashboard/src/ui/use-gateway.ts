/** What the page asks the gateway before there is a session: who are you, which sessions are there. */
import type { WireSession, WireStatus } from "@holdfast/gateway/wire";
import { useCallback, useEffect, useState } from "react";
import { browser } from "../browser.ts";

export type Gateway =
  | { readonly kind: "asking" }
  | { readonly kind: "signed-out" }
  | { readonly kind: "unreachable" }
  | { readonly kind: "ready"; readonly status: WireStatus };

const AGAIN_MS = 2_000;

/** Asks until there is an answer, and again when told: another gateway may have another model. What is known stays meanwhile. */
export function useGateway(): readonly [gateway: Gateway, again: () => void] {
  const [gateway, setGateway] = useState<Gateway>({ kind: "asking" });
  const again = useCallback(async () => {
    const got = await browser.api.status();
    if (got.kind === "ok") setGateway({ kind: "ready", status: got.value });
  }, []);
  useEffect(() => {
    const end = new AbortController();
    void ask(setGateway, end.signal);
    return () => end.abort();
  }, []);
  return [gateway, again];
}

async function ask(tell: (gateway: Gateway) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const got = await browser.api.status();
    if (signal.aborted) return;
    if (got.kind === "ok") return tell({ kind: "ready", status: got.value });
    if (got.kind === "signed-out") return tell({ kind: "signed-out" });
    tell({ kind: "unreachable" });
    await browser.clock.pause(AGAIN_MS, signal);
  }
}

/** The sessions, newest first; fetched again whenever `when` changes. Keeps the last list when the gateway is away. */
export function useSessions(when: unknown): readonly WireSession[] {
  const [sessions, setSessions] = useState<readonly WireSession[]>([]);
  const refresh = useCallback(async () => {
    const got = await browser.api.sessions();
    if (got.kind === "ok") setSessions(newestFirst(got.value.sessions));
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `when` says that the list may have changed
  useEffect(() => void refresh(), [refresh, when]);
  return sessions;
}

function newestFirst(sessions: readonly WireSession[]): readonly WireSession[] {
  const when = (session: WireSession): number => session.lastInteractionAt ?? session.updatedAt ?? 0;
  return [...sessions].sort((left, right) => when(right) - when(left));
}
