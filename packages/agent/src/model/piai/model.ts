/**
 * Models behind a provider's address, through @earendil-works/pi-ai. Only this folder imports it, and only at the first question:
 * loading it costs more than starting the gateway does.
 *
 * Invariant: an answer with calls is a whole one. A stream that was cut, aborted, overdue or stopped for length keeps its
 * text and loses its calls, because half a call can look complete.
 */
import type * as pi from "@earendil-works/pi-ai";
import type { World } from "@holdfast/base";
import type { Model, ModelAnswer, ModelDelta, ModelRequest } from "../../types.ts";
import type { Api } from "../providers.ts";
import { type AskOptions, abortedAnswer, failedAnswer } from "../answers.ts";
import { streamOf } from "./apis.ts";
import { listed } from "./catalog.ts";
import { watchedFetch } from "./exchange.ts";
import { expiredFailure, failureOf, type Place } from "./failures.ts";
import { type Limit, PATIENCE, type PatienceLimits, watch } from "./limits.ts";
import { contentOf, piContext, usageOf } from "./messages.ts";

export interface PiModelOptions extends Place {
  readonly world: World;
  readonly api: Api;
  /** Where the library lists this provider's models; null: nowhere (providers.ts). */
  readonly catalog: string | null;
  /** Tokens; what the catalogue says, else 128,000, when null. */
  readonly contextWindow: number | null;
  /** Tokens of one answer; the provider's default when null. */
  readonly maxTokens: number | null;
  /** What it takes; what the catalogue says, else text alone, when left out. */
  readonly input?: readonly ("text" | "image")[];
  readonly limits?: PatienceLimits;
}

/** Everything of the library that is used, loaded together. */
async function load(options: PiModelOptions) {
  const [stream, entry, transcript, overflow] = await Promise.all([
    streamOf(options.api),
    listed(options.catalog, options.model),
    import("@earendil-works/pi-ai/utils/transcript"),
    import("@earendil-works/pi-ai/utils/overflow"),
  ]);
  const { normalizeContext } = transcript;
  return { stream, model: piModel(options, entry), normalizeContext, isContextOverflow: overflow.isContextOverflow };
}
type Library = Awaited<ReturnType<typeof load>>;

const OPENAI_HOST = "api.openai.com";
/** What servers that only speak OpenAI's protocol all understand: some refuse `store`, or ignore `max_completion_tokens`. */
const PLAIN: pi.OpenAICompletionsCompat = { supportsStore: false, maxTokensField: "max_tokens" };

/** The catalogue's entry where it speaks the same protocol, with what the configuration says before it. */
function piModel(options: PiModelOptions, entry: pi.Model<pi.Api> | undefined): pi.Model<pi.Api> {
  const { provider, model, baseUrl, api } = options;
  const known = entry?.api === api ? entry : undefined;
  const contextWindow = options.contextWindow ?? known?.contextWindow ?? CONTEXT_WINDOW_TOKENS;
  const isPlain = api === "openai-completions" && new URL(baseUrl).hostname !== OPENAI_HOST;
  return {
    name: model,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...(known === undefined && isPlain ? { compat: PLAIN } : {}),
    ...known,
    ...(options.input === undefined ? {} : { input: [...options.input] }),
    id: model,
    api,
    provider,
    baseUrl,
    contextWindow,
    maxTokens: options.maxTokens ?? known?.maxTokens ?? Math.min(contextWindow, ANSWER_TOKENS),
  };
}

/** What a model is taken for that nobody lists. */
const CONTEXT_WINDOW_TOKENS = 128_000;
/** Protocols that insist on a limit of the answer get this much where nothing is known. */
const ANSWER_TOKENS = 8_192;

export function piaiModel(options: PiModelOptions): Model {
  return {
    name: `${options.provider}/${options.model}`,
    api: options.api,
    async seesPictures() {
      return piModel(options, await listed(options.catalog, options.model)).input.includes("image");
    },
    async contextWindow() {
      return piModel(options, await listed(options.catalog, options.model)).contextWindow;
    },
    async ask(request, ask) {
      const by = { provider: options.provider, model: options.model, api: options.api };
      if (ask.signal.aborted) return abortedAnswer(by, []);
      return askOnce(await load(options), request, { options, ask, by });
    },
  };
}

interface Asking {
  readonly options: PiModelOptions;
  readonly ask: AskOptions;
  readonly by: ModelAnswer["by"];
}

async function askOnce(library: Library, request: ModelRequest, { options, ask, by }: Asking): Promise<ModelAnswer> {
  const { world, limits = PATIENCE } = options;
  const overdue = new AbortController();
  const expired: { limit: Limit | null } = { limit: null };
  using patience = watch(world, limits, (limit) => {
    expired.limit = limit;
    overdue.abort();
  });
  const http = watchedFetch(world, () => patience.reached("firstTokenMs"));
  const events = library.stream(library.model, library.normalizeContext(piContext(request)), {
    apiKey: options.apiKey,
    signal: AbortSignal.any([ask.signal, overdue.signal]),
    fetch: http.fetch,
    maxRetries: 0,
    timeoutMs: limits.totalMs,
    cacheRetention: "short",
    sessionId: request.sessionId,
    identity: { userAgent: { custom: "holdfast" }, attribution: null },
    onProviderStreamEvent: () => patience.reached("idleMs"),
    ...(options.maxTokens === null ? {} : { maxTokens: options.maxTokens }),
  });
  const message = await follow(events, ask);
  const content = contentOf(message);
  if (message.stopReason === "stop" || message.stopReason === "toolUse" || message.stopReason === "length") {
    return wholeAnswer(library, message, { options, ask, by });
  }
  if (ask.signal.aborted) return abortedAnswer(by, content);
  if (expired.limit !== null) return failedAnswer(by, expiredFailure(expired.limit, limits, options), content);
  const text = message.errorMessage ?? "no reason given";
  return failedAnswer(by, failureOf(text, library.isContextOverflow(message), http.exchange(), options), content);
}

/** Passes the deltas on and resolves with the final message, whole or not. */
async function follow(
  events: AsyncIterable<pi.AssistantMessageEvent>,
  { onDelta }: AskOptions,
): Promise<pi.AssistantMessage> {
  for await (const event of events) {
    if (event.type === "done") return event.message;
    if (event.type === "error") return event.error;
    const delta = deltaOf(event);
    if (delta !== null) onDelta(delta);
  }
  throw new TypeError("the library's stream ended without a result");
}

function deltaOf(event: pi.AssistantMessageEvent): ModelDelta | null {
  if (event.type === "text_delta") return { kind: "text", text: event.delta };
  if (event.type === "thinking_delta") return { kind: "thinking", text: event.delta };
  if (event.type !== "toolcall_start") return null;
  const block = event.partial.content[event.contentIndex];
  return block?.type === "toolCall" ? { kind: "call", name: block.name } : null;
}

function wholeAnswer(library: Library, message: pi.AssistantMessage, { options, by }: Asking): ModelAnswer {
  const content = contentOf(message);
  const usage = usageOf(message);
  const base = { failure: null, usage, by };
  if (message.stopReason !== "length") {
    const calls = content.some((block) => block.type === "toolCall");
    return { ...base, content, stop: calls ? "toolUse" : "stop" };
  }
  if (library.isContextOverflow(message, library.model.contextWindow)) {
    const exchange = { status: null, retryAfterMs: null, responded: true };
    return failedAnswer(by, failureOf("No room was left for an answer.", true, exchange, options));
  }
  return { ...base, content: content.filter((block) => block.type !== "toolCall"), stop: "length" };
}
