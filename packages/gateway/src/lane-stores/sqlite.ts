/**
 * Lanes in one SQLite file. `sqliteLanes` writes where it is called, for programs that do one thing; `threadedLanes` in a
 * thread of its own, where what many sessions commit at once shares one sync.
 *
 * Invariant: a method is one step of the file (`sqlite/steps.ts`), on the disk when it returns.
 */
import type { World } from "@holdfast/base";
import { GatewayError } from "../errors.ts";
import type { Change, LaneItem, LaneStore, NewLaneItem } from "../lanes.ts";
import { openLaneFile } from "./sqlite/file.ts";
import type { NamedChange, NamedItem, Step } from "./sqlite/steps.ts";
import { openThreaded, type StepRunner } from "./sqlite/threaded.ts";

/** Opens or makes the file (0600). Throws `lanes_unusable`. */
export function sqliteLanes(path: string, world: World): LaneStore {
  const file = openLaneFile(path);
  return storeOn({ run: async (step) => file.run([step])[0]!, close: async () => file.close() }, world);
}

/** The same, in a thread. */
export async function threadedLanes(path: string, world: World): Promise<LaneStore> {
  return storeOn(await openThreaded(path), world);
}

function storeOn(runner: StepRunner, world: World): LaneStore {
  /** The outcome is of the type that `carryOut` gives to this kind of step. */
  const ask = async <T>(step: Step): Promise<T> => {
    const outcome = await runner.run(step);
    if (outcome.kind === "error") throw new GatewayError(outcome.code, outcome.details);
    return outcome.value as T;
  };
  const write = async <T>(step: Step): Promise<T> => {
    world.at("lane:before-write");
    const value = await ask<T>(step);
    world.at("lane:after-write");
    return value;
  };
  const named = (item: NewLaneItem): NamedItem => ({ ...item, id: world.newId("item") });
  const namedAll = (changes: readonly Change[]): readonly NamedChange[] =>
    changes.map((change) => (change.kind === "enqueue" ? { ...change, item: named(change.item) } : change));

  return {
    enqueue: (item, nowMs, also = []) => write({ kind: "enqueue", item: named(item), also: namedAll(also), nowMs }),
    async claim(request) {
      const item = await ask<LaneItem | undefined>({ kind: "claim", request });
      if (item !== undefined) world.at("lane:after-write");
      return item;
    },
    renew: (id, holder, leaseUntilMs) => write({ kind: "renew", id, holder, leaseUntilMs }),
    commit: (holder, changes, nowMs) => write({ kind: "commit", holder, changes: namedAll(changes), nowMs }),
    async takeOver(holder, spared = () => false) {
      const others = await ask<readonly string[]>({ kind: "holders", but: holder });
      const holders = others.filter((other) => !spared(other));
      return holders.length === 0 ? 0 : write({ kind: "giveBack", holders });
    },
    get: (id) => ask({ kind: "get", id }),
    list: (query) => ask({ kind: "list", query }),
    nextDue: (lane) => ask({ kind: "nextDue", lane }),
    forget: (endedBeforeMs) => write({ kind: "forget", endedBeforeMs }),
    close: () => runner.close(),
  };
}
