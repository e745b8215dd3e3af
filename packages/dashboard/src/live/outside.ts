/**
 * What the live layer needs from outside, as narrow ports: the gateway, time, ids and a small store.
 * Without them the layer could not be tested without a browser; src/browser.ts is the only real implementation.
 */
import type { WireAccepted, WireEvent, WireSessionList, WireSnapshot, WireStatus } from "@holdfast/gateway/wire";

/** Everything a request can come to. `unreachable` may be tried again with the same key; `refused` may not. */
export type Outcome<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "signed-out" }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  | { readonly kind: "unreachable" };

/** Told in the order of the stream. `ended` is the last call and comes exactly once, unless the reader closed it. */
export interface StreamReader {
  opened(): void;
  event(id: string, event: WireEvent): void;
  ended(): void;
}

/** The gateway. No method rejects or throws: what went wrong is in the outcome. */
export interface Api {
  status(): Promise<Outcome<WireStatus>>;
  sessions(): Promise<Outcome<WireSessionList>>;
  /** The newest entries, or with `before` the ones older than that entry. */
  snapshot(key: string, before: string | null): Promise<Outcome<WireSnapshot>>;
  /** Safe to repeat: the same `clientKey` is accepted once. */
  send(key: string, text: string, clientKey: string): Promise<Outcome<WireAccepted>>;
  /** Events after `cursor`, never told before this returns. Returns how to close it; after that the reader hears nothing more. */
  stream(key: string, cursor: string, reader: StreamReader): () => void;
}

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  nowMs(): number;
  /** Resolves after `ms`, or earlier when waiting has become pointless: the network is back, or `signal` aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether the machine believes to have a network. */
  online(): boolean;
}

/** A place for small texts that survives a reload. Never throws; without one, `get` answers null. */
export interface Keep {
  get(name: string): string | null;
  /** null removes. */
  set(name: string, value: string | null): void;
}

export interface Outside {
  readonly api: Api;
  readonly clock: Clock;
  readonly keep: Keep;
  /** A new Idempotency-Key. */
  readonly newKey: () => string;
}
