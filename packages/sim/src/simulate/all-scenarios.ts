/** Every scenario there is, by name. Those of other modes are played without second faults: they take long. */
import { FSYNC_SCENARIOS } from "./fsync-scenarios.ts";
import { KEEPING_SCENARIOS } from "./keeping-scenarios.ts";
import { LOCK_SCENARIOS } from "./lock-scenarios.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

export const ALL_SCENARIOS: readonly Scenario[] = [...SCENARIOS, ...KEEPING_SCENARIOS];

export function scenarioNamed(name: string): Scenario {
  const found = [...ALL_SCENARIOS, ...LOCK_SCENARIOS, ...FSYNC_SCENARIOS].find((scenario) => scenario.name === name);
  if (found === undefined) {
    throw new TypeError(`no scenario ${name}: ${ALL_SCENARIOS.map((one) => one.name).join(", ")}`);
  }
  return found;
}
