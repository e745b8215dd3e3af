/**
 * What the library's catalogue knows of a model: its window, its prices, what it can see, how its thinking is asked for.
 * Invariant: a model that is not listed is no error; nothing is fetched.
 */
import type * as pi from "@earendil-works/pi-ai";
import { isObject } from "@holdfast/base";
import { knownProvider } from "../providers.ts";

/** The entry of the catalogue `catalog` (providers.ts); undefined where there is none. */
export async function listed(catalog: string | null, model: string): Promise<pi.Model<pi.Api> | undefined> {
  return catalog === null ? undefined : (await modelsIn(catalog)).find(({ id }) => id === model);
}

/** All chat models of a catalogue, in its order. */
export async function modelsIn(catalog: string): Promise<readonly pi.Model<pi.Api>[]> {
  const module: unknown = await import(`@earendil-works/pi-ai/providers/${catalog}.models`);
  const name = `${catalog.toUpperCase().replaceAll("-", "_")}_MODELS`;
  const models = isObject(module) ? module[name] : undefined;
  return isObject(models) ? (Object.values(models) as unknown as readonly pi.Model<pi.Api>[]) : [];
}

/** What is known of a model that a provider offers. Money in US dollars for a million tokens. */
export interface ListedModel {
  readonly id: string;
  readonly name: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly input: readonly string[];
  readonly cost: { readonly input: number; readonly output: number };
}

/** The models of a known provider (providers.ts); empty where nothing is listed. */
export async function modelsListed(provider: string): Promise<readonly ListedModel[]> {
  const catalog = knownProvider(provider)?.catalog ?? null;
  const models = catalog === null ? [] : await modelsIn(catalog);
  return models.map(({ id, name, contextWindow, maxTokens, input, cost }) => {
    return { id, name, contextWindow, maxTokens, input, cost: { input: cost.input, output: cost.output } };
  });
}

export async function listedModel(provider: string, model: string): Promise<ListedModel | undefined> {
  return (await modelsListed(provider)).find(({ id }) => id === model);
}
