/**
 * The world of a simulated process: the machine's clock, and chance from its seed.
 */
import { makeId, type World } from "@holdfast/base";
import type { Machine } from "./machine.ts";
import type { SimProcess } from "./process.ts";

const MS_NS = 1e6;

export function worldOf(machine: Machine, process: SimProcess): World {
  const wait = (ms: number, fire: () => void, isBackground: boolean): Disposable => {
    const dueNs = machine.nowNs + BigInt(Math.ceil(ms * MS_NS));
    return machine.timers.add({ process, dueNs, isBackground, fire });
  };
  const nowMs = (): number => Number(machine.nowNs - process.lagNs) / MS_NS;
  return {
    nowMs: () => Math.floor(nowMs()),
    monotonicMs: nowMs,
    sleep: (ms, signal) => sleep((fire) => wait(ms, fire, false), signal),
    every: (ms, run) => every((fire) => wait(ms, fire, true), run),
    newId: (kind) => makeId(kind, nowMs(), (count) => machine.chance.bytes(count)),
    random: () => machine.chance.next(),
    // Every operation is a point here: none has to be named.
    at: () => {},
  };
}

function sleep(wait: (fire: () => void) => Disposable, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = wait(resolve);
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function every(wait: (fire: () => void) => Disposable, run: () => void): Disposable {
  const again = (): Disposable =>
    wait(() => {
      next = again();
      run();
    });
  let next = again();
  return { [Symbol.dispose]: () => next[Symbol.dispose]() };
}
