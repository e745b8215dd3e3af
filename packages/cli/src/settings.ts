/**
 * The few settings that commands without a gateway need: which agents there are, and which is the default one.
 * Invariant: a missing holdfast.json means the defaults and costs no import of the configuration reader (start-up time).
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface Settings {
  readonly defaultAgent: string;
  /** Ids that are configured or have a folder, the default agent first. */
  readonly agents: readonly string[];
}

export function sessionsDirectory(home: string, agentId: string): string {
  return join(home, "agents", agentId, "sessions");
}

/** Throws what reading the configuration throws: `config_invalid`, `config_unreadable`. */
export async function settingsOf(home: string): Promise<Settings> {
  const { defaultAgent, configured } = await configuredAgents(home);
  return { defaultAgent, agents: [...new Set([defaultAgent, ...configured, ...agentsIn(join(home, "agents"))])] };
}

async function configuredAgents(home: string): Promise<{ defaultAgent: string; configured: readonly string[] }> {
  if (!existsSync(join(home, "holdfast.json"))) return { defaultAgent: "main", configured: [] };
  const { loadConfig } = await import("@holdfast/gateway");
  const { list } = (await loadConfig(home)).agents;
  const defaultAgent = (list.find((agent) => agent.default) ?? list[0])?.id ?? "main";
  return { defaultAgent, configured: list.map((agent) => agent.id) };
}

/** Ids of the agents that have a folder, sorted. */
function agentsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[a-z0-9][a-z0-9_-]{0,63}$/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}
