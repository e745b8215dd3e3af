/**
 * Stories that nobody wrote: two processes talk in turns that the seed decides, one of them is struck somewhere, the power
 * may go, and others go on from what is left; several times over. The seed is all it takes to see the same again.
 */
import { Chance } from "../disk/chance.ts";
import type { DataLoss } from "../disk/content.ts";
import type { Fault, When } from "../disk/faults.ts";
import { violationsIn } from "../history/check.ts";
import { factsOf } from "../history/disk-facts.ts";
import { History } from "../history/history.ts";
import { type Client, DIRECTORY } from "./client.ts";
import { emptyScene, play, type Scene } from "./play.ts";
import { MAIN, OTHER } from "./scenarios.ts";

export interface RandomRun {
  readonly seed: number;
  readonly acts: number;
  readonly faults: readonly string[];
  readonly violations: readonly string[];
}

const ROUNDS = 4;
const ACTS_MAX = 6;
const OPERATIONS = 150;

export async function randomRun(seed: number): Promise<RandomRun> {
  const chance = new Chance(seed);
  const faults: string[] = [];
  const violations: string[] = [];
  let scene = emptyScene(new History());
  for (let round = 0; round < ROUNDS; round++) {
    const fault = { at: 1 + chance.below(OPERATIONS), fault: anyFault(chance) };
    const players = ["A", "B"].map((name) => player(`${name}${round}`, scene, chance.below(2 ** 31)));
    const [first, beside] = players;
    if (first === undefined || beside === undefined) break;
    const played = await play(scene, first, { seed: chance.below(2 ** 31), beside, fault });
    faults.push(JSON.stringify(fault));
    violations.push(...played.surprises, ...broken(played.scene));
    scene = chance.below(2) === 0 ? played.scene : afterPowerLoss(played.scene, chance);
  }
  const end = await play(scene, player("Z", scene, seed), { seed });
  violations.push(...end.surprises, ...broken(end.scene));
  return { seed, acts: end.scene.history.acts.length, faults, violations };
}

function broken({ image, history }: Scene): readonly string[] {
  return violationsIn(history, factsOf(image, DIRECTORY), { mayDamage: true, isSettled: false });
}

function afterPowerLoss(scene: Scene, chance: Chance): Scene {
  const image = scene.image.clone();
  const losses: readonly [DataLoss, ...DataLoss[]] = ["lost", "kept", "zeros", { torn: chance.below(400) }];
  const names = Array.from({ length: image.names.pending }, () => chance.below(2) === 0);
  image.losePower({ data: chance.pick(losses), names });
  return { ...scene, image };
}

function anyFault(chance: Chance): Fault {
  const when = chance.pick<When>(["before", "after"]);
  return chance.pick<Fault>([
    { kind: "kill", when },
    { kind: "power", when, loss: { data: chance.pick<DataLoss>(["lost", "kept", "zeros"]), names: "lost" } },
    { kind: "torn", bytes: 1 + chance.below(100) },
    { kind: "short", bytes: chance.below(100) },
    { kind: "fail", code: chance.pick(["EIO", "ENOSPC"]) },
    { kind: "sync-fails", pages: chance.pick(["kept", "clean", "gone"]) },
    { kind: "freeze" },
  ]);
}

/** Says things in two conversations, moves in them, changes their rows. */
function player(name: string, scene: Scene, seed: number) {
  const chance = new Chance(seed);
  const known = entriesOf(scene);
  let count = 0;
  const act = async (client: Client): Promise<void> => {
    const key = chance.pick([MAIN, OTHER]);
    const id = (): string => `${name}-${++count}`;
    const targets = known.get(key) ?? [];
    switch (chance.below(5)) {
      case 0:
        return client.append(key, id(), id());
      case 1:
        return client.together(key, id(), id(), id());
      case 2:
        return client.update(key, id());
      case 3: {
        const target = targets[chance.below(targets.length)];
        return target === undefined ? client.append(key, id()) : client.branch(key, target);
      }
      default:
        return client.append(key, id());
    }
  };
  const run = async (client: Client): Promise<void> => {
    for (let left = 1 + chance.below(ACTS_MAX); left > 0; left--) await act(client);
    if (chance.below(2) === 0) await client.close();
  };
  return { name, run };
}

/** What may be moved to, by conversation. */
function entriesOf({ history }: Scene): ReadonlyMap<string, readonly string[]> {
  const entries = new Map<string, readonly string[]>();
  for (const { what, key, ids, told } of history.acts) {
    if (what === "append" && told?.done !== undefined) entries.set(key, [...(entries.get(key) ?? []), ...ids]);
  }
  return entries;
}
