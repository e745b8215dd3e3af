/**
 * The same stories under the other policies. `turn` syncs what people say, so here it promises what `always` does; `never`
 * promises that no death of a process loses anything, and tells nobody that anything is durable.
 */
import { SCENARIOS, type Scenario } from "./scenarios.ts";

export const FSYNC_SCENARIOS: readonly Scenario[] = (["turn", "never"] as const).flatMap((fsync) =>
  SCENARIOS.map((scenario) => ({ ...scenario, name: `${scenario.name}, fsync ${fsync}`, fsync })),
);
