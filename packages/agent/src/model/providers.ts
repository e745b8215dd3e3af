/**
 * Providers that need no address in the configuration, as data: which protocol they speak, and where.
 * Invariant: everything here can be overridden by `models.providers.<id>`; nothing here is a secret.
 */

/** Protocols that can be spoken (`models.providers.<id>.api`). */
export const APIS = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
  "mistral-conversations",
] as const;
export type Api = (typeof APIS)[number];

export const DEFAULT_API: Api = "openai-completions";

export interface KnownProvider {
  readonly api: Api;
  readonly baseUrl: string;
  /** Under which name the library lists its models, with their windows and prices; null: nothing is known of them. */
  readonly catalog: string | null;
}

const speaking = (api: Api) => (baseUrl: string, catalog: string | null) => ({ api, baseUrl, catalog });
const openai = speaking("openai-completions");

export const PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: openai("https://api.openai.com/v1", "openai"),
  anthropic: speaking("anthropic-messages")("https://api.anthropic.com", "anthropic"),
  google: speaking("google-generative-ai")("https://generativelanguage.googleapis.com/v1beta", "google"),
  mistral: speaking("mistral-conversations")("https://api.mistral.ai", "mistral"),
  openrouter: openai("https://openrouter.ai/api/v1", "openrouter"),
  deepseek: openai("https://api.deepseek.com", "deepseek"),
  moonshot: openai("https://api.moonshot.ai/v1", "moonshotai"),
  "moonshot-cn": openai("https://api.moonshot.cn/v1", "moonshotai-cn"),
  zhipu: openai("https://open.bigmodel.cn/api/paas/v4", null),
  zai: openai("https://api.z.ai/api/paas/v4", null),
  dashscope: openai("https://dashscope.aliyuncs.com/compatible-mode/v1", null),
  groq: openai("https://api.groq.com/openai/v1", "groq"),
  xai: openai("https://api.x.ai/v1", "xai"),
  together: openai("https://api.together.ai/v1", "together"),
  cerebras: openai("https://api.cerebras.ai/v1", "cerebras"),
  ollama: openai("http://127.0.0.1:11434/v1", null),
  lmstudio: openai("http://127.0.0.1:1234/v1", null),
  vllm: openai("http://127.0.0.1:8000/v1", null),
};

export function knownProvider(id: string): KnownProvider | undefined {
  return Object.hasOwn(PROVIDERS, id) ? PROVIDERS[id] : undefined;
}

export function isApi(api: string): api is Api {
  return APIS.some((known) => known === api);
}
