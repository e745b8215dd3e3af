/**
 * From the configuration's `provider/model` to a model that can be asked.
 * Invariant: what is wrong with the configuration is said here, before anything is asked, and names the setting to change.
 */
import type { World } from "@holdfast/base";
import { AgentError } from "../errors.ts";
import type { Model } from "../types.ts";
import { splitName } from "./answers.ts";
import { type PiModelOptions, piaiModel } from "./piai/model.ts";
import type { Candidate } from "./route/route.ts";
import { APIS, DEFAULT_API, isApi, knownProvider, PROVIDERS } from "./providers.ts";
import { REHEARSAL, rehearsalModel } from "./rehearsal.ts";

/** `models.providers.<id>` (docs/config.md). */
export interface ProviderConfig {
  readonly api?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Several are taken in turn: the next one where the provider refuses one of them. */
  readonly apiKey?: string | readonly string[] | undefined;
  readonly models?: readonly ModelConfig[] | undefined;
}
export interface ModelConfig {
  readonly id: string;
  /** Tokens. */
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** What it takes. */
  readonly input?: readonly ("text" | "image")[] | undefined;
}

export interface OpenModelOptions {
  /** `agents.defaults.model.primary`, or `rehearsal/offline`. */
  readonly choice: string;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** A key kept outside the configuration (credentials.json), or null. */
  readonly apiKeyOf: (provider: string) => string | readonly string[] | null;
  readonly world: World;
}

/** The model with each of its provider's keys. Opens no connection. Throws what `openModel` throws. */
export function candidatesOf(options: OpenModelOptions): readonly Candidate[] {
  const { provider, model } = splitName(options.choice);
  if (options.choice === REHEARSAL) return [{ provider, model, credential: "none", asks: openModel(options) }];
  return placeOf(options).map((place) => ({ provider, model, credential: place.apiKey, asks: piaiModel(place) }));
}

/**
 * The model with the first of its provider's keys. Opens no connection. Throws `AgentError`: `model_bad_choice`,
 * `model_unknown_provider`, `model_api_unsupported`, `model_key_missing`.
 */
export function openModel(options: OpenModelOptions): Model {
  if (options.choice === REHEARSAL) return rehearsalModel(options.world, { notice: false });
  return piaiModel(placeOf(options)[0]);
}

/** One for each key, at least one. */
function placeOf({
  choice,
  providers,
  apiKeyOf,
  world,
}: OpenModelOptions): readonly [PiModelOptions, ...PiModelOptions[]] {
  const { provider, model } = splitName(choice);
  if (provider === "" || model === "") throw new AgentError("model_bad_choice", { choice });
  const config = Object.hasOwn(providers, provider) ? (providers[provider] ?? {}) : {};
  const known = knownProvider(provider);
  const baseUrl = config.baseUrl ?? known?.baseUrl;
  if (baseUrl === undefined || !isUsable(baseUrl)) {
    const names = [...new Set([...Object.keys(providers), ...Object.keys(PROVIDERS)])].join(", ");
    throw new AgentError("model_unknown_provider", { choice, provider, known: names });
  }
  const api = config.api ?? known?.api ?? DEFAULT_API;
  if (!isApi(api)) throw new AgentError("model_api_unsupported", { provider, api, supported: APIS.join(", ") });
  const given = [config.apiKey ?? apiKeyOf(provider) ?? keyless(baseUrl) ?? []].flat();
  const [first, ...rest] = [...new Set(given)].filter((key) => key !== "");
  if (first === undefined) throw new AgentError("model_key_missing", { provider });
  const limits = limitsOf(choice, model, config.models ?? []);
  const place = { provider, model, baseUrl, world, api, catalog: known?.catalog ?? null, ...limits };
  return [{ ...place, apiKey: first }, ...rest.map((apiKey) => ({ ...place, apiKey }))];
}

/** `fetch` takes no address with a user or password in it. */
function isUsable(baseUrl: string): boolean {
  const url = URL.parse(baseUrl);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** Servers on this machine usually ask for no key, but the protocol wants one. */
function keyless(baseUrl: string): string | null {
  const host = new URL(baseUrl).hostname;
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host) ? "none" : null;
}

/** A list of models is the provider's whole offer; without a list any name may be asked for. */
function limitsOf(
  choice: string,
  model: string,
  models: readonly ModelConfig[],
): Pick<PiModelOptions, "contextWindow" | "maxTokens" | "input"> {
  const config = models.find(({ id }) => id === model);
  if (config === undefined && models.length > 0) throw new AgentError("model_bad_choice", { choice });
  const { contextWindow = null, maxTokens = null, input } = config ?? {};
  return { contextWindow, maxTokens, ...(input && { input }) };
}
