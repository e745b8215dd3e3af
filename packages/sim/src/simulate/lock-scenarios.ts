/**
 * The same stories where a lock is a file: it does not die with its holder, whoever comes next takes it over when it was
 * not renewed for long, and who wakes then is late. A holder that is frozen wakes aware of the time, and unaware.
 */
import { SCENARIOS, type Scenario } from "./scenarios.ts";

const STALE_MS = 100;

export const LOCK_SCENARIOS: readonly Scenario[] = SCENARIOS.map((scenario) => ({
  ...scenario,
  name: `${scenario.name}, locks are files`,
  lockFiles: { staleMs: STALE_MS },
}));
