/**
 * The model an agent asks: the configured one, the rehearsal model where none is configured, or, where the configuration
 * cannot work, one that says so in the conversation. A bad model never keeps the gateway from starting.
 */
import { type Model, modelFailure, openModel, REHEARSAL, rehearsalModel } from "@holdfast/agent";
import { messageOf, type World } from "@holdfast/base";
import type { AgentConfig, Config } from "./config/schema.ts";
import type { Log } from "./log.ts";

export interface ModelsOptions {
  readonly config: Config;
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly world: World;
  readonly log: Log;
}

export function isRehearsal(model: Pick<Model, "name">): boolean {
  return model.name === REHEARSAL;
}

export function modelOf(agent: AgentConfig, { config, apiKeys, world, log }: ModelsOptions): Model {
  const choice = agent.model.primary;
  if (choice === null) return rehearsalModel(world);
  const { providers } = config.models;
  const apiKeyOf = (provider: string) => providers[provider]?.apiKey ?? apiKeys[provider] ?? null;
  try {
    return openModel({ choice, providers, apiKeyOf, world });
  } catch (error) {
    log.error("the configured model cannot be used; the gateway answers with this error", {
      choice,
      why: messageOf(error),
    });
    return unusableModel(choice, messageOf(error));
  }
}

/** Fails every question with the reason; nothing is retried, so the sender is told at once. */
export function unusableModel(name: string, why: string): Model {
  const [provider = name, ...rest] = name.split("/");
  return {
    name,
    async ask() {
      const failure = modelFailure("not_set_up", why);
      return {
        content: [],
        stop: "failed",
        failure,
        usage: null,
        by: { provider, model: rest.join("/"), api: "none" },
      };
    },
  };
}
