/**
 * The model an agent asks: the configured one, the rehearsal model where none is configured, or, where the configuration
 * cannot work, one that says so in the conversation. A bad model never keeps the gateway from starting.
 */
import {
  type Candidate,
  candidatesOf,
  type Model,
  modelFailure,
  REHEARSAL,
  rehearsalModel,
  routedModel,
  type Rests,
} from "@holdfast/agent";
import { messageOf, type World } from "@holdfast/base";
import type { AgentConfig, Config } from "./config/schema.ts";
import type { Log } from "./log.ts";

export interface ModelsOptions {
  readonly config: Config;
  readonly apiKeys: Readonly<Record<string, string | readonly string[]>>;
  readonly world: World;
  readonly log: Log;
  /** Which keys rest; shared by all agents. */
  readonly rests: Rests;
}

export function isRehearsal(model: Pick<Model, "name">): boolean {
  return model.name === REHEARSAL;
}

/** The primary model and its fallbacks, with all their keys; what cannot be used is left out and said. */
export function modelOf(agent: AgentConfig, { config, apiKeys, world, log, rests }: ModelsOptions): Model {
  const { primary, fallbacks } = agent.model;
  if (primary === null) return rehearsalModel(world);
  const { providers } = config.models;
  const apiKeyOf = (provider: string) => apiKeys[provider] ?? null;
  const problems: string[] = [];
  const candidates = [...new Set([primary, ...fallbacks])].flatMap((choice): readonly Candidate[] => {
    try {
      return candidatesOf({ choice, providers, apiKeyOf, world });
    } catch (error) {
      problems.push(messageOf(error));
      log.error("a configured model cannot be used", { choice, why: messageOf(error) });
      return [];
    }
  });
  return candidates.length === 0
    ? unusableModel(primary, problems[0] ?? "no model")
    : routedModel(candidates, { rests, world });
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
