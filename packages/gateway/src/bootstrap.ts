/** What the configuration says about workspace files in the prompt of an agent. */
import { type BootstrapPorts, diskWorkspace, keptBeside } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { isTimezone, machineTimezone } from "@holdfast/sessions";
import type { AgentConfig, Config } from "./config/schema.ts";

type Settings = Pick<Config, "memory" | "sessions">;

/** The user's: the agent's own, else that of the daily reset, else the machine's. */
export function timezoneOf(agent: Pick<AgentConfig, "timezone">, { sessions }: Pick<Config, "sessions">): string {
  const set = [agent.timezone, sessions.reset.timezone].find((name) => name !== null && isTimezone(name));
  return set ?? machineTimezone();
}

export function bootstrapOf(agent: AgentConfig, config: Settings, world: World): BootstrapPorts {
  const { contextInjection: injection, bootstrapMaxChars: maxChars, bootstrapTotalMaxChars: totalMaxChars } = agent;
  const { inject: scope, injectDailyNotes: days } = config.memory;
  return {
    settings: {
      injection,
      limits: { maxChars, totalMaxChars },
      memory: { scope, days },
      // Asked when a message comes: what zones are takes megabytes.
      get timezone() {
        return timezoneOf(agent, config);
      },
    },
    read: diskWorkspace(world),
    kept: keptBeside(),
  };
}
