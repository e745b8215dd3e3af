/** What would go over the wire for a request, in each provider's own form: made by the code that sends, and not sent. */
import type { JsonObject } from "@holdfast/base";
import type * as pi from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { stream as anthropic } from "@earendil-works/pi-ai/api/anthropic-messages";
import { stream as google } from "@earendil-works/pi-ai/api/google-generative-ai";
import { stream as mistral } from "@earendil-works/pi-ai/api/mistral-conversations";
import { stream as completions } from "@earendil-works/pi-ai/api/openai-completions";
import { stream as responses } from "@earendil-works/pi-ai/api/openai-responses";
import type { EntryMessage } from "@holdfast/sessions";
import type { Target } from "../../src/context/hygiene/families.ts";
import { piContext } from "../../src/model/piai/messages.ts";
import { request } from "./requests.ts";

type Send = (
  model: pi.Model<pi.Api>,
  context: pi.TranscriptContext,
  options: { readonly apiKey: string; onPayload(payload: unknown): never },
) => AsyncIterable<unknown>;

// Each takes the model of its own api only; the table below gives it no other.
const SENDERS = {
  "openai-completions": completions,
  "openai-responses": responses,
  "anthropic-messages": anthropic,
  "google-generative-ai": google,
  "mistral-conversations": mistral,
} as unknown as Readonly<Record<WireApi, Send>>;

export type WireApi =
  | "openai-completions"
  | "openai-responses"
  | "anthropic-messages"
  | "google-generative-ai"
  | "mistral-conversations";

/** Who is asked in tests, by api. */
export const TARGETS: Readonly<Record<WireApi, Target>> = {
  "openai-completions": { provider: "openai", model: "gpt-5.2", api: "openai-completions" },
  "openai-responses": { provider: "openai", model: "gpt-5.2", api: "openai-responses" },
  "anthropic-messages": { provider: "anthropic", model: "claude-sonnet-4-6", api: "anthropic-messages" },
  "google-generative-ai": { provider: "google", model: "gemini-3-pro", api: "google-generative-ai" },
  "mistral-conversations": { provider: "mistral", model: "mistral-large-latest", api: "mistral-conversations" },
};

/** The body of the request, as JSON. */
export async function wireOf(messages: readonly EntryMessage[], api: WireApi): Promise<JsonObject> {
  const { provider, model } = TARGETS[api];
  const asked: pi.Model<pi.Api> = {
    id: model,
    name: model,
    api,
    provider,
    baseUrl: "http://127.0.0.1:9/v1",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 8_000,
  };
  const seen: { body: JsonObject | null } = { body: null };
  const events = SENDERS[api](asked, normalizeContext(piContext(request(messages))), {
    apiKey: "key",
    onPayload(payload) {
      seen.body = JSON.parse(JSON.stringify(payload));
      throw new Error("not sent");
    },
  });
  for await (const _event of events);
  if (seen.body === null) throw new Error(`${api}: nothing would have been sent`);
  return seen.body;
}
