/**
 * What clients are told while it happens: a numbered ring of events, and whoever listens.
 *
 * Invariant: a client that names the last event it saw gets every later one of its session, once and in order, or is told
 * to fetch a snapshot. The number counts for the whole gateway; a restart begins a new epoch.
 */
import { LIMITS, type World } from "@holdfast/base";
import type { WireEvent } from "../wire/index.ts";

/** Called in order. Must not throw. */
export type Listener = (id: string, event: WireEvent) => void;

interface Kept {
  readonly sequence: number;
  readonly key: string;
  readonly event: WireEvent;
}

export interface Hub {
  publish(sessionKey: string, event: WireEvent): void;
  /** Where a snapshot taken now goes on; before the first piece of an answer that is being streamed. */
  cursor(sessionKey: string): string;
  /** Tells what came after `after` at once, then what comes; null: only what comes. */
  listen(sessionKey: string, after: string | null, listener: Listener): Disposable;
}

export function createHub(world: World, keptMax: number = LIMITS.eventsKeptMax): Hub {
  const epoch = world.newId("holder");
  const ring: Kept[] = [];
  const listeners = new Map<string, Set<Listener>>();
  const streaming = new Map<string, number>();
  let sequence = 0;

  const idOf = (number: number): string => `${epoch}:${number}`;
  const oldest = (): number => sequence - ring.length;
  const noteStream = (key: string, event: WireEvent): void => {
    if (event.type === "delta" && !streaming.has(key)) streaming.set(key, sequence - 1);
    if (event.type === "entries" || event.type === "withdrawn" || event.type === "turn") streaming.delete(key);
  };

  return {
    publish(key, event) {
      sequence += 1;
      ring.push({ sequence, key, event });
      if (ring.length > keptMax) ring.shift();
      noteStream(key, event);
      for (const listener of listeners.get(key) ?? []) listener(idOf(sequence), event);
    },
    cursor: (key) => idOf(Math.max(streaming.get(key) ?? sequence, oldest())),
    listen(key, after, listener) {
      const [of, number] = after?.split(":") ?? [epoch, String(sequence)];
      const from = /^\d{1,15}$/.test(number ?? "") ? Number(number) : -1;
      if (of !== epoch || from < oldest() || from > sequence) listener(idOf(sequence), { type: "snapshot" });
      else
        for (const kept of ring)
          if (kept.key === key && kept.sequence > from) listener(idOf(kept.sequence), kept.event);
      const others = listeners.get(key) ?? new Set();
      listeners.set(key, others.add(listener));
      return {
        [Symbol.dispose]() {
          others.delete(listener);
          if (others.size === 0 && listeners.get(key) === others) listeners.delete(key);
        },
      };
    },
  };
}
