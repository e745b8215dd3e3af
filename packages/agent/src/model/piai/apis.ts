/**
 * The library's protocols, each loaded when it is first spoken: one of them costs more than starting the gateway does.
 * Invariant: all are spoken the same way; what differs between them stays in the library.
 */
import type * as pi from "@earendil-works/pi-ai";
import type { Api } from "../providers.ts";

export type Stream = (
  model: pi.Model<pi.Api>,
  context: pi.TranscriptContext,
  options: pi.StreamOptions,
) => AsyncIterable<pi.AssistantMessageEvent>;

const LOADERS: Readonly<Record<Api, () => Promise<{ readonly stream: unknown }>>> = {
  "openai-completions": () => import("@earendil-works/pi-ai/api/openai-completions"),
  "openai-responses": () => import("@earendil-works/pi-ai/api/openai-responses"),
  "anthropic-messages": () => import("@earendil-works/pi-ai/api/anthropic-messages"),
  "google-generative-ai": () => import("@earendil-works/pi-ai/api/google-generative-ai"),
  "mistral-conversations": () => import("@earendil-works/pi-ai/api/mistral-conversations"),
};

export async function streamOf(api: Api): Promise<Stream> {
  // Each is typed for its own models; which one belongs to which is what the table says.
  return (await LOADERS[api]()).stream as Stream;
}
