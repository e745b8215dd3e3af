/** What may be set about workspace files in the prompt, and what holds where nothing is set. */
import { machineTimezone } from "@holdfast/sessions";
import type { BootstrapLimits } from "./compose.ts";
import type { MemorySettings } from "./kinds.ts";

export interface BootstrapSettings {
  /**
   * `always`: every request has the workspace's files. `continuation-skip`: not where an earlier turn of the branch had the
   * same ones. `never`: none has.
   */
  readonly injection: "always" | "continuation-skip" | "never";
  readonly limits: BootstrapLimits;
  readonly memory: MemorySettings;
  /** The user's: IANA name. */
  readonly timezone: string;
}

export function defaultBootstrap(): BootstrapSettings {
  return {
    injection: "always",
    limits: { maxChars: 20_000, totalMaxChars: 60_000 },
    memory: { scope: "main", days: 2 },
    timezone: machineTimezone(),
  };
}

/** What holds for an agent. */
export function settingsOf(agent: {
  readonly bootstrap?: { readonly settings?: BootstrapSettings };
}): BootstrapSettings {
  return agent.bootstrap?.settings ?? defaultBootstrap();
}
