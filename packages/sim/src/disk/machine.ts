/**
 * One simulated machine: a disk, a clock, kernel locks, and the processes that run on it, one operation at a time.
 *
 * Every operation of every process waits in one queue; the seed decides who is next, and time passes only when
 * something is done or nobody can do anything. Same seed, same programs: same run.
 * Invariant: a dead process gets no further answer and does nothing more; what it held is free at that moment.
 */
import { Chance } from "./chance.ts";
import type { FailedPages } from "./content.ts";
import type { Fault, Op } from "./faults.ts";
import { DiskImage, type PowerLoss, systemError } from "./image.ts";
import { SimProcess, type Strike } from "./process.ts";
import { Timers } from "./timers.ts";

/** An operation that a process has asked for. */
export interface Request extends Op {
  readonly process: SimProcess;
  /** Does it; for a write, no more than `bytes`. */
  perform(bytes?: number): unknown;
  /** For a sync: what becomes of the pages when it fails. */
  drop?(pages: FailedPages): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What became of an operation. `never`: its process died or sleeps. */
type Outcome =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "never" };

/** Sees the disk before each operation; what is returned is called after it. */
export type Observer = (op: Request, image: DiskImage) => (image: DiskImage) => void;

export interface MachineOptions {
  readonly seed: number;
  readonly image?: DiskImage;
  readonly nowMs?: number;
  /** Let the seed decide whose turn it is; otherwise first come, first served. */
  readonly shuffle?: boolean;
  /** How long an operation takes. With it, what is due happens as soon as its time is over, not only when nobody can go on. */
  readonly operationNs?: bigint;
  readonly observer?: Observer;
}

const START_MS = Date.UTC(2026, 0, 5, 9);
const OP_NS = 10_000n;
const MS_NS = 1_000_000n;

export class Machine {
  readonly image: DiskImage;
  readonly chance: Chance;
  /** Who holds the lock on an inode. */
  readonly locks = new Map<number, SimProcess>();
  readonly #options: MachineOptions;
  readonly #queue: Request[] = [];
  readonly timers = new Timers();
  readonly #processes: SimProcess[] = [];
  /** Nanoseconds since 1970. */
  nowNs: bigint;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.chance = new Chance(options.seed);
    this.image = options.image?.clone() ?? new DiskImage();
    this.nowNs = BigInt(options.nowMs ?? START_MS) * MS_NS;
    this.#pass(0n);
  }

  /** A new process. */
  process(name: string, strike?: Strike): SimProcess {
    const process = new SimProcess(this, name, strike);
    this.#processes.push(process);
    return process;
  }

  /** Runs until nobody can do anything any more: everybody is done, dead, asleep, or waits for ever; or for so many steps. */
  async run(stepsMax = Number.POSITIVE_INFINITY): Promise<void> {
    for (let steps = 0; steps < stepsMax; steps++) {
      await settled();
      if (this.#options.operationNs !== undefined && this.timers.fireDue(this.nowNs)) continue;
      const next = this.#next();
      if (next !== undefined) {
        const outcome = this.#do(next);
        if (outcome.kind === "value") next.resolve(outcome.value);
        if (outcome.kind === "error") next.reject(outcome.error);
      } else if (!this.#fireTimer()) return;
    }
  }

  enqueue(request: Request): void {
    if (!request.process.isDead) this.#queue.push(request);
  }

  /** For operations that are done within one call. Throws `Killed` in a process that is no more. */
  doNow(request: Request): unknown {
    if (request.process.isDead) throw new Killed();
    const outcome = this.#do(request);
    if (outcome.kind === "value") return outcome.value;
    throw outcome.kind === "error" ? outcome.error : new Killed();
  }

  kill(process: SimProcess): void {
    process.isDead = true;
    for (const [ino, holder] of this.locks) if (holder === process) this.locks.delete(ino);
    this.timers.dropAll(process);
    for (let at = this.#queue.length - 1; at >= 0; at--) {
      if (this.#queue[at]?.process === process) this.#queue.splice(at, 1);
    }
  }

  losePower(loss: PowerLoss): void {
    for (const process of this.#processes) this.kill(process);
    this.image.losePower(loss);
  }

  #next(): Request | undefined {
    const ready = this.#queue.filter(({ process }) => !process.isFrozen);
    const chosen = this.#options.shuffle ? ready[this.chance.below(ready.length)] : ready[0];
    if (chosen !== undefined) this.#queue.splice(this.#queue.indexOf(chosen), 1);
    return chosen;
  }

  #fireTimer(): boolean {
    const first = this.timers.take();
    if (first === undefined) return false;
    if (first.dueNs > this.nowNs) this.#pass(first.dueNs - this.nowNs);
    first.fire();
    return true;
  }

  #pass(ns: bigint): void {
    this.nowNs += ns;
    this.image.nowNs = this.nowNs;
  }

  #do(request: Request): Outcome {
    this.#pass(this.#options.operationNs ?? OP_NS);
    const fault = request.process.faultAtNext(request);
    const after = this.#options.observer?.(request, this.image);
    const outcome = fault === undefined ? attempt(() => request.perform()) : this.#strike(request, fault);
    after?.(this.image);
    return outcome;
  }

  #strike(request: Request, fault: Fault): Outcome {
    switch (fault.kind) {
      case "kill":
        if (fault.when === "after") attempt(() => request.perform());
        this.kill(request.process);
        return { kind: "never" };
      case "torn":
        attempt(() => request.perform(fault.bytes));
        this.kill(request.process);
        return { kind: "never" };
      case "power":
        if (fault.when === "after") attempt(() => request.perform());
        this.losePower(fault.loss);
        return { kind: "never" };
      case "fail":
        return { kind: "error", error: systemError(fault.code, request.name) };
      case "unanswered":
        attempt(() => request.perform());
        return { kind: "error", error: systemError("ETIMEDOUT", request.name) };
      case "short":
        return attempt(() => request.perform(fault.bytes));
      case "sync-fails":
        request.drop?.(fault.pages);
        return { kind: "error", error: systemError("EIO", request.name) };
      case "freeze":
        request.process.freeze(this.nowNs);
        this.#queue.push(request);
        return { kind: "never" };
    }
  }
}

/** Thrown inside a process that was killed in the middle of a call; nothing outside ever hears of it. */
export class Killed extends Error {}

function attempt(work: () => unknown): Outcome {
  try {
    return { kind: "value", value: work() };
  } catch (error) {
    return { kind: "error", error };
  }
}

/** Every continuation that can run has run: one turn of the event loop, which takes no simulated time. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
