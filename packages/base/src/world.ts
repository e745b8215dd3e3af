/**
 * The one door for time, chance, ids and fault points. Everything else receives a `World`.
 * Invariant: no other file (drivers aside) reads a clock, draws a random number or starts a timer; without it
 * a simulated run could not be replayed from its seed.
 * The crypto module is loaded at the first id: most commands only read, and it costs a third of Node's own start.
 */
import { type PointHook, pointsFromEnvironment } from "./points.ts";

export type IdKind = "session" | "entry" | "holder" | "item" | "home" | "token";

export interface World {
  /** Wall clock, milliseconds since 1970 UTC. May jump. */
  nowMs(): number;
  /** Monotonic clock, milliseconds. Never jumps; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after `ms`, however long that is, or rejects with `signal.reason` as soon as the signal aborts. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` every `ms` until disposed. Does not keep the process alive. `run` must not throw. */
  every(ms: number, run: () => void): Disposable;
  /** A new id. Sessions and items are UUIDv7 (sortable by time), entries 16 hex digits, tokens 43 base64url characters. */
  newId(kind: IdKind): string;
  /** In [0, 1). Seeded in tests. */
  random(): number;
  /** A fault point (points.ts): may never return. Name it `<what>:<before|after>`. */
  at(point: string): void;
}

/** UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits. */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const bytes = Uint8Array.from(random.subarray(0, 16));
  for (let index = 0; index < 6; index++) bytes[index] = Math.floor(nowMs / 2 ** (8 * (5 - index))) & 0xff;
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** An id from a clock and a source of random bytes; shared by the real and the simulated world. */
export function makeId(kind: IdKind, nowMs: number, bytes: (count: number) => Uint8Array): string {
  if (kind === "session" || kind === "item" || kind === "home") return uuidV7(nowMs, bytes(16));
  if (kind === "token") return Buffer.from(bytes(32)).toString("base64url");
  return Buffer.from(bytes(8)).toString("hex");
}

/** A longer timer fires at once: the platform keeps its milliseconds in 31 bits. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Calls `run` once after `ms`, however long that is, until disposed. */
function after(ms: number, run: () => void, keepAlive: boolean): Disposable {
  const dueMs = performance.now() + ms;
  const arm = (leftMs: number): NodeJS.Timeout => {
    const next = (): void => {
      const left = dueMs - performance.now();
      if (leftMs <= TIMER_MAX_MS || left <= 0) run();
      else current.timer = arm(left);
    };
    const timer = setTimeout(next, Math.min(leftMs, TIMER_MAX_MS));
    return keepAlive ? timer : timer.unref();
  };
  const current = { timer: arm(ms) };
  return { [Symbol.dispose]: () => clearTimeout(current.timer) };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    const wake = () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    };
    const timer = after(ms, wake, true);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function every(ms: number, run: () => void): Disposable {
  const again = (): void => {
    // Armed first, so that `run` may dispose it.
    current.timer = after(ms, again, false);
    run();
  };
  const current = { timer: after(ms, again, false) };
  return { [Symbol.dispose]: () => current.timer[Symbol.dispose]() };
}

const chance = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");

const PAGE_BYTES = 4096;

/** Random bytes, fetched by the page: a call of their own costs more than all the rest of an id. Each is given once. */
function randomPages(): (count: number) => Uint8Array {
  let page = new Uint8Array(0);
  let used = 0;
  return (count) => {
    if (used + count > page.length) {
      page = chance().randomBytes(PAGE_BYTES);
      used = 0;
    }
    used += count;
    return page.subarray(used - count, used);
  };
}

/** The real world. `points` defaults to what the environment asks for, which is nothing in production. */
export function realWorld(points: PointHook = pointsFromEnvironment(process.env)): World {
  const pages = randomPages();
  // A token is a secret: its bytes never lie beside others.
  const fresh = (count: number): Uint8Array => chance().randomBytes(count);
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep,
    every,
    newId: (kind) => makeId(kind, Date.now(), kind === "token" ? fresh : pages),
    random: () => chance().randomInt(2 ** 47) / 2 ** 47,
    at: points,
  };
}
