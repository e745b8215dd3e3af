/**
 * One simulated process: its state, and the two things a program in it is given instead of the real ones.
 * Invariant: a dead process never becomes alive again; another one takes its place.
 */
import type { World } from "@holdfast/base";
import type { Disk } from "@holdfast/sessions/internal";
import { type Fault, type Op, suits } from "./faults.ts";
import type { Machine } from "./machine.ts";
import { SimDisk } from "./sim-disk.ts";
import { worldOf } from "./sim-world.ts";

/** A fault, and the operation of its process at which it strikes (1-based). */
export interface Strike {
  readonly at: number;
  readonly fault: Fault;
}

export class SimProcess {
  readonly name: string;
  readonly disk: Disk;
  readonly world: World;
  isDead = false;
  isFrozen = false;
  /** How far its clocks are behind those of the machine. */
  lagNs = 0n;
  #frozenAtNs = 0n;
  /** Operations done so far. */
  operations = 0;
  readonly #strike: Strike | undefined;

  constructor(machine: Machine, name: string, strike?: Strike) {
    this.name = name;
    this.#strike = strike;
    this.disk = new SimDisk(machine, this);
    this.world = worldOf(machine, this);
  }

  /** Counts one more operation and says what happens at it. */
  faultAtNext(op: Op): Fault | undefined {
    this.operations += 1;
    if (this.#strike === undefined || this.#strike.at !== this.operations) return undefined;
    return suits(this.#strike.fault, op) ? this.#strike.fault : undefined;
  }

  freeze(nowNs: bigint): void {
    this.isFrozen = true;
    this.#frozenAtNs = nowNs;
  }

  wake(): void {
    this.isFrozen = false;
  }

  /** As from a machine that was suspended: its clocks know nothing of the time that passed meanwhile. */
  wakeUnaware(nowNs: bigint): void {
    if (this.isFrozen) this.lagNs += nowNs - this.#frozenAtNs;
    this.wake();
  }
}
