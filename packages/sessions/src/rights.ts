/**
 * The two numbers that protect a transcript, as pure functions over one small record: `g`, who may write bytes, and
 * `t`, who may work on the session (docs/decisions: rights).
 * Invariant: both numbers only grow; a right is taken from a holder only when its lease has run out or its death is proven.
 */
import { isObject, type Liveness, livenessOf, parseIdentity, tryParse } from "@holdfast/base";
import type { Claim, Right } from "./types.ts";

export interface Lease {
  /** Whatever the holder said of itself; an `Identity` as JSON can be checked for liveness. */
  readonly holder: string;
  /** Wall clock, milliseconds since 1970; 0 once released. */
  readonly untilMs: number;
}

/** What a store keeps per session beside its lines. `writer` is the token of whoever wrote last under `g`. */
export interface Rights {
  readonly g: number;
  readonly t: number;
  readonly lease: Lease | null;
  readonly writer: string;
  /** Bytes from here on could not be synced: they can be read, and may be nowhere but in memory. */
  readonly doubtfulFrom?: number;
}

export const NO_RIGHTS: Rights = { g: 0, t: 0, lease: null, writer: "" };

/** Reads what was stored; undefined when it is not such a record, so that the numbers are looked up in the log. */
export function parseRights(value: unknown): Rights | undefined {
  if (!isObject(value) || !Number.isSafeInteger(value.g) || !Number.isSafeInteger(value.t)) return undefined;
  const writer = typeof value.writer === "string" ? value.writer : "";
  const doubtful = Number.isSafeInteger(value.doubtfulFrom) ? { doubtfulFrom: Number(value.doubtfulFrom) } : {};
  return { g: Number(value.g), t: Number(value.t), lease: parseLease(value.lease), writer, ...doubtful };
}

function parseLease(value: unknown): Lease | null {
  if (!isObject(value) || typeof value.holder !== "string" || typeof value.untilMs !== "number") return null;
  return { holder: value.holder, untilMs: value.untilMs };
}

/** `dead` only where it is proven; a holder that is no `Identity` cannot be checked. */
export function holderLiveness(holder: string): Liveness {
  const identity = parseIdentity(tryParse(holder));
  return identity === undefined ? "unknown" : livenessOf(identity);
}

/** Clocks of two machines may differ by this much. */
const CLOCKS_APART_MAX_MS = 300_000;

/** Whether the lease still runs. One that ends later than any could means that the clock was set back since. */
function runs(lease: Lease, { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number }): boolean {
  return lease.untilMs > nowMs && lease.untilMs <= nowMs + leaseMs + CLOCKS_APART_MAX_MS;
}

/** A claim at `nowMs`: the next number, unless a lease still runs whose holder is not proven dead. */
export function claim(
  rights: Rights,
  ask: { readonly session: string; readonly holder: string; readonly leaseMs: number; readonly nowMs: number },
  liveness: (holder: string) => Liveness = holderLiveness,
): { readonly rights: Rights; readonly claim: Claim } {
  const lease = rights.lease;
  if (lease !== null && runs(lease, ask) && liveness(lease.holder) !== "dead") {
    return { rights, claim: { kind: "held", by: lease.holder, untilMs: lease.untilMs } };
  }
  const t = rights.t + 1;
  const right: Right = { session: ask.session, t, holder: ask.holder };
  const next = { ...rights, t, lease: { holder: ask.holder, untilMs: ask.nowMs + ask.leaseMs } };
  return { rights: next, claim: { kind: "claimed", right } };
}

/** The renewed record, or undefined when a newer right exists or this one was released. One that ran out may be renewed. */
export function renew(rights: Rights, right: Right, untilMs: number): Rights | undefined {
  if (rights.t > right.t || rights.lease?.untilMs === 0) return undefined;
  return { ...rights, t: right.t, lease: { holder: right.holder, untilMs } };
}

/** The record with this right's lease ended; unchanged when a newer right exists. */
export function release(rights: Rights, right: Right): Rights {
  return rights.t === right.t ? { ...rights, lease: { holder: right.holder, untilMs: 0 } } : rights;
}

/** Whether a commit under this number comes too late. */
export function isStale(rights: Rights, t: number | undefined): boolean {
  return t !== undefined && t < rights.t;
}
