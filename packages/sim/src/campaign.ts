/** Runs rounds two at a time, since a round mostly waits for its child; results come back in the order of the points. */
import type { World } from "@holdfast/base";
import { type KillRound, killRound } from "./kill-points.ts";

const AT_ONCE = 2;

/** A further look at each transcript, e.g. another reader's opinion; its sentences count as broken promises. */
export type Inspect = (transcript: string) => Promise<readonly string[]>;

export async function killCampaign(world: World, points: readonly number[], inspect?: Inspect): Promise<KillRound[]> {
  const rounds: KillRound[] = [];
  const left = points.entries();
  const work = async (): Promise<void> => {
    for (const [index, point] of left) rounds[index] = await killRound(world, point, inspect);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return rounds;
}
