/**
 * What models an agent has, for people: which are configured, which can be asked, what is known of them, and what they cost.
 * Invariant: looking asks no provider and tells no key.
 */
import { AgentError, type Candidate, candidatesOf, listedModel } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { readCredentials } from "./config/credentials.ts";
import type { Config } from "./config/schema.ts";

export { GROUPS, readUsage, summed, type UsageGroup, type UsageSum } from "./usage/read.ts";

export interface ConfiguredModel {
  /** `provider/model`. */
  readonly name: string;
  readonly agent: string;
  readonly as: "primary" | "fallback";
  /** How many keys it can be asked with; 0: it cannot be, and `why` says so. */
  readonly keys: number;
  readonly why: string | null;
  /** Tokens; null: not known. */
  readonly contextWindow: number | null;
}

interface ModelsOf {
  readonly home: string;
  readonly config: Config;
  readonly world: World;
}

/** The configured models of all agents, in the order in which each agent asks them. */
export async function configuredModels(options: ModelsOf): Promise<readonly ConfiguredModel[]> {
  const rows = options.config.agents.list.flatMap(({ id, model }) =>
    [...new Set([model.primary ?? REHEARSAL, ...model.fallbacks])].map((name, at) => ({ id, name, at })),
  );
  return Promise.all(
    rows.map(async ({ id, name, at }) => {
      const asked = await opened(options, name);
      const common = { name, agent: id, as: at === 0 ? "primary" : "fallback" } as const;
      if (typeof asked === "string") return { ...common, keys: 0, why: asked, contextWindow: null };
      return { ...common, keys: asked.length, why: null, contextWindow: await windowOf(options.config, name) };
    }),
  );
}

const REHEARSAL = "rehearsal/offline";

/** The model with each of its keys, or why it cannot be asked. */
export async function opened(
  { home, config, world }: ModelsOf,
  choice: string,
): Promise<readonly Candidate[] | string> {
  const { apiKeys } = await readCredentials(home);
  const { providers } = config.models;
  try {
    return candidatesOf({ choice, providers, apiKeyOf: (provider) => apiKeys[provider] ?? null, world });
  } catch (error) {
    if (error instanceof AgentError) return error.message;
    throw error;
  }
}

async function windowOf({ models }: Config, name: string): Promise<number | null> {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  const own = models.providers[provider]?.models.find(({ id }) => id === model)?.contextWindow;
  return own ?? (await listedModel(provider, model))?.contextWindow ?? null;
}
