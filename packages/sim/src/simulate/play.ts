/**
 * Plays one act of a story on one machine: who runs, on which disk, with which fault, and what came of it.
 * Invariant: everything that matters afterwards is in the `Scene` it returns; nothing is shared between two plays.
 */
import type { Fsync } from "@holdfast/sessions";
import type { Disk } from "@holdfast/sessions/internal";
import type { Op } from "../disk/faults.ts";
import { DiskImage } from "../disk/image.ts";
import { Machine, type Observer } from "../disk/machine.ts";
import type { Strike } from "../disk/process.ts";
import { type DiskFacts, factsOf } from "../history/disk-facts.ts";
import type { History } from "../history/history.ts";
import { Client, DIRECTORY, type LockFiles } from "./client.ts";

/** A disk and what clients had been told when it looked like this. */
export interface Scene {
  readonly image: DiskImage;
  readonly history: History;
  readonly nowMs: number;
}

/** A scene in the middle of a play, at one operation. */
export interface Still {
  readonly at: number;
  readonly op: Op;
  readonly before: Scene;
  readonly after: Scene;
}

export interface Player {
  readonly name: string;
  readonly run: (client: Client) => Promise<void>;
}

export interface PlayOptions {
  readonly seed: number;
  readonly disk?: (disk: Disk) => Disk;
  /** Strikes the player. */
  readonly fault?: Strike;
  /** Runs at the same time; the seed decides whose turn it is. */
  readonly beside?: Player;
  /** Runs while the player is frozen, who is woken when nothing goes on any more. */
  readonly meanwhile?: Player;
  readonly lockFiles?: LockFiles;
  readonly fsync?: Fsync;
  /** Whoever is woken takes the time for what it was when it was stopped. */
  readonly wakesUnaware?: boolean;
  /** Keep a still of every operation. */
  readonly stills?: boolean;
}

export interface Played {
  readonly scene: Scene;
  readonly stills: readonly Still[];
  /** What went wrong that no disk explains. */
  readonly surprises: readonly string[];
}

const START_MS = Date.UTC(2026, 0, 5, 9);
const LATER_MS = 60_000;

export function emptyScene(history: History): Scene {
  return { image: new DiskImage(), history, nowMs: START_MS };
}

export async function play(from: Scene, player: Player, options: PlayOptions): Promise<Played> {
  const history = from.history.clone();
  const stills: Still[] = [];
  const surprises: string[] = [];
  const scene = (image: DiskImage): Scene => {
    return { image: image.clone(), history: history.clone(), nowMs: Math.ceil(Number(machine.nowNs) / 1e6) + LATER_MS };
  };
  const observer: Observer = (op, image) => {
    const before = scene(image);
    return (later) => void stills.push({ at: stills.length + 1, op, before, after: scene(later) });
  };
  const { seed, disk, fault, meanwhile, beside, lockFiles, fsync } = options;
  const still = options.stills === true ? { observer } : {};
  const machine: Machine = new Machine({
    seed,
    image: from.image,
    nowMs: from.nowMs,
    shuffle: beside !== undefined,
    ...still,
  });
  const start = ({ name, run }: Player, struck?: Strike) => {
    const process = machine.process(name, struck);
    const onSurprise = (what: string): void => void surprises.push(what);
    const state = { hasEnded: false };
    const facts = (): DiskFacts => factsOf(machine.image, DIRECTORY);
    const client = new Client({
      process,
      history,
      onSurprise,
      facts,
      ...(lockFiles && { lockFiles }),
      ...(fsync && { fsync }),
      ...(disk && { disk }),
    });
    run(client).then(
      () => {
        state.hasEnded = true;
      },
      (error: unknown) => {
        if (!process.isDead) surprises.push(`${name} ended with ${String(error)}`);
      },
    );
    return { process, hasEnded: () => state.hasEnded || process.isDead };
  };
  const first = start(player, fault);
  const other = beside === undefined ? undefined : start(beside);
  await machine.run();
  const second = meanwhile === undefined ? undefined : start(meanwhile);
  if (second !== undefined) await machine.run();
  if (options.wakesUnaware === true) first.process.wakeUnaware(machine.nowNs);
  else first.process.wake();
  await machine.run();
  for (const one of [first, other, second]) {
    if (one !== undefined && !one.hasEnded()) surprises.push(`${one.process.name} waits for ever`);
  }
  return { scene: scene(machine.image), stills, surprises };
}
