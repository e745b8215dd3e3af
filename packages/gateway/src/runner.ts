/**
 * Works on the items of one lane: claim, renew while at work, and what comes after.
 *
 * Invariant: an item that is claimed here is either settled by its work or put back; nothing that a piece of work throws
 * ends the loop. Woken by enqueue and by finished work; the slow look is for time passing (delays, expired leases).
 */
import { messageOf, type World } from "@holdfast/base";
import type { Lane, LaneItem, LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";

/** Longest time without a look, and pause after the store failed. */
const LOOK_MS = 5_000;
const STORE_FAILED_MS = 1_000;
const PAUSE_MIN_MS = 10;

export type After = { readonly kind: "settled" } | { readonly kind: "again"; readonly delayMs: number };

export interface RunnerOptions {
  readonly lane: Lane;
  readonly store: LaneStore;
  readonly holder: string;
  readonly leaseMs: number;
  /** Items at work at once. */
  readonly limit: number;
  readonly world: World;
  readonly log: Log;
  /** Why work is aborted on stop; the work may tell stops apart by it. */
  stopReason(): Error;
  /** Does the work. The signal aborts on stop and when the claim is lost. */
  work(item: LaneItem, signal: AbortSignal): Promise<After>;
  /** What to do with an item whose work threw. */
  failed(item: LaneItem, error: unknown): Promise<After>;
}

export interface Runner {
  wake(): void;
  /** Aborts what runs, waits until all of it is settled or put back. Idempotent. */
  stop(): Promise<void>;
}

interface State {
  readonly options: RunnerOptions;
  readonly running: Map<string, Promise<void>>;
  readonly stopping: AbortController;
  bell: PromiseWithResolvers<void>;
}

/** Starts at once. */
export function startRunner(options: RunnerOptions): Runner {
  const state: State = {
    options,
    running: new Map(),
    stopping: new AbortController(),
    bell: Promise.withResolvers(),
  };
  const ended = loop(state);
  return {
    wake: () => ring(state),
    async stop() {
      state.stopping.abort(options.stopReason());
      ring(state);
      await ended;
      await Promise.all(state.running.values());
    },
  };
}

function ring(state: State): void {
  state.bell.resolve();
  state.bell = Promise.withResolvers();
}

async function loop(state: State): Promise<void> {
  const { options, running, stopping } = state;
  while (!stopping.signal.aborted) {
    const heard = state.bell.promise;
    try {
      const item = running.size < options.limit ? await claimOne(options) : undefined;
      // At work here already: its lease only seemed to have run out, because the clock jumped. The claim renewed it.
      if (item === undefined || running.has(item.id)) await pause(heard, await pauseMs(state), options.world);
      else running.set(item.id, runOne(state, item));
    } catch (error) {
      options.log.error("the lane store failed", { lane: options.lane, why: messageOf(error) });
      await pause(heard, STORE_FAILED_MS, options.world);
    }
  }
}

function claimOne({ lane, holder, leaseMs, world, store }: RunnerOptions): Promise<LaneItem | undefined> {
  return store.claim({ lane, holder, nowMs: world.nowMs(), leaseMs });
}

/** Until something can be claimed; with all places taken, until one of them is free (which rings the bell). */
async function pauseMs({ options, running }: State): Promise<number> {
  const due = running.size < options.limit ? await options.store.nextDue(options.lane) : null;
  if (due === null) return LOOK_MS;
  return Math.min(LOOK_MS, Math.max(PAUSE_MIN_MS, due - options.world.nowMs()));
}

async function pause(heard: Promise<void>, ms: number, world: World): Promise<void> {
  const over = new AbortController();
  const slept = world.sleep(ms, over.signal).catch(() => undefined);
  await Promise.race([heard, slept]);
  over.abort();
}

async function runOne(state: State, item: LaneItem): Promise<void> {
  const { options, running, stopping } = state;
  const { store, holder, world, log } = options;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping.signal, lost.signal]);
  try {
    using _renewal = world.every(options.leaseMs / 3, () => void renew(options, item, lost));
    const after = await options.work(item, signal).catch((error: unknown) => options.failed(item, error));
    if (after.kind === "again") {
      const release = { kind: "release", id: item.id, notBeforeMs: world.nowMs() + after.delayMs } as const;
      await store.commit(holder, [release], world.nowMs());
    }
  } catch (error) {
    // The store itself failed: the claim runs out and the item is taken again.
    log.error("an item could not be put back", { item: item.id, why: messageOf(error) });
  } finally {
    running.delete(item.id);
    ring(state);
  }
}

async function renew(options: RunnerOptions, item: LaneItem, lost: AbortController): Promise<void> {
  const { store, holder, world, leaseMs, log } = options;
  try {
    if (await store.renew(item.id, holder, world.nowMs() + leaseMs)) return;
    lost.abort(new Error("the claim was lost"));
  } catch (error) {
    log.warn("a claim could not be renewed", { item: item.id, why: messageOf(error) });
  }
}
