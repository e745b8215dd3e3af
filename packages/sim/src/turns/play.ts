/**
 * Lives on one simulated machine, from an image to the image they leave: one in peace, one that something strikes, one that is
 * frozen while another takes over and is woken after it.
 *
 * Invariant: a run is a function of the story, the image, the seed and the fault. A life that does not come to an end is trouble.
 */
import type { Fault, Op } from "../disk/faults.ts";
import type { DiskImage } from "../disk/image.ts";
import { Machine, type Observer } from "../disk/machine.ts";
import type { SimProcess } from "../disk/process.ts";
import { live } from "./life.ts";
import type { Story } from "./story.ts";

/** An operation of a peaceful life, with the disk before and after it. */
export interface Still {
  /** 1 for the first. */
  readonly at: number;
  readonly op: Op;
  /** What the clock said. */
  readonly nowMs: number;
  readonly before: DiskImage;
  readonly after: DiskImage;
}

export interface Left {
  readonly image: DiskImage;
  readonly nowMs: number;
}

export interface Run extends Left {
  readonly stills: readonly Still[];
  readonly trouble: readonly string[];
  /** Its last process was ended. */
  readonly died: boolean;
}

/** Every seed is one life's own: ids that come twice would be taken for the same entry. */
export interface From extends Left {
  readonly seed: number;
  /** Which of the orders in which a process's own operations may be done; as they are asked for when left out. */
  readonly order?: number;
}

function machineOf({ order, seed, ...left }: From, observer?: Observer): Machine {
  const shuffled = order === undefined ? {} : { shuffle: true };
  const mixed = seed + (order ?? 0) * ORDER_SEEDS;
  return new Machine({ ...left, seed: mixed, ...shuffled, ...(observer && { observer }) });
}

const ORDER_SEEDS = 1_000_000;

/** No life of a story needs a tenth of them. */
const OPERATIONS_MAX = 20_000;

interface Started {
  readonly process: SimProcess;
  readonly trouble: string[];
  over: boolean;
}

function start(story: Story, machine: Machine, process: SimProcess, store?: string): Started {
  const state: Started = { process, trouble: [], over: false };
  live(story, { machine, process, ...(store !== undefined && { store }) }).then(
    () => {
      state.over = true;
    },
    (error: unknown) => {
      state.over = true;
      if (!process.isDead) state.trouble.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    },
  );
  return state;
}

function troubleOf(states: readonly Started[]): readonly string[] {
  return states.flatMap(({ process, trouble, over }) => {
    const endless = process.operations > OPERATIONS_MAX ? ["it does not end"] : [];
    return [...trouble, ...endless, ...(over || process.isDead ? [] : ["it waits for ever"])];
  });
}

function nowOf({ nowNs }: Machine): number {
  return Math.ceil(Number(nowNs) / 1e6);
}

function leftBy(machine: Machine, states: readonly Started[], stills: readonly Still[] = []): Run {
  return {
    image: machine.image,
    nowMs: nowOf(machine),
    stills,
    trouble: troubleOf(states),
    died: states.at(-1)?.process.isDead === true,
  };
}

/** One life; `fault` strikes it at its operation `at`. */
export async function play(
  story: Story,
  from: From,
  how: { readonly stills?: boolean; readonly at?: number; readonly fault?: Fault } = {},
): Promise<Run> {
  const stills: Still[] = [];
  const observer = ({ kind, name, bytes }: Op, image: DiskImage) => {
    const before = image.clone();
    return (after: DiskImage) =>
      void stills.push({
        at: stills.length + 1,
        op: { kind, name, bytes },
        nowMs: nowOf(machine),
        before,
        after: after.clone(),
      });
  };
  const machine: Machine = machineOf(from, how.stills === true ? observer : undefined);
  const strike = how.at === undefined || how.fault === undefined ? undefined : { at: how.at, fault: how.fault };
  const life = start(story, machine, machine.process(`life-${from.seed}`, strike));
  await machine.run(OPERATIONS_MAX);
  return leftBy(machine, [life], stills);
}

/** One life is frozen at its operation `at`, another takes over and comes to its end, then the first is woken. */
export async function playFrozen(story: Story, from: From, at: number): Promise<Run> {
  const machine = machineOf(from);
  const first = start(story, machine, machine.process(`life-${from.seed}`, { at, fault: { kind: "freeze" } }));
  await machine.run(OPERATIONS_MAX);
  const second = start(story, machine, machine.process(`life-${from.seed + 1}`));
  await machine.run(OPERATIONS_MAX);
  first.process.wake();
  await machine.run(OPERATIONS_MAX);
  return leftBy(machine, [first, second]);
}
