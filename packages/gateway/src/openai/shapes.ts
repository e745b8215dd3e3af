/** The OpenAI shapes we speak, in and out. What we do not use is accepted and ignored, as clients send a lot. */
import { z } from "zod";
import type { Failure } from "../http/errors.ts";

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
});
export const chatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  user: z
    .string()
    .refine((user) => user.isWellFormed(), "expected whole characters")
    .nullish(),
});
export type ChatRequest = z.output<typeof chatRequest>;
export type ChatMessage = ChatRequest["messages"][number];

/** The text parts, joined; other parts are left out. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

function numberOf(usage: unknown, name: string): number {
  const value = (usage as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The usage of several answers (as transcripts keep it), summed. */
export function usageOf(usages: readonly unknown[]): Usage {
  const sum = (names: readonly string[]): number =>
    usages.reduce<number>((total, usage) => total + names.reduce((part, name) => part + numberOf(usage, name), 0), 0);
  const prompt = sum(["input", "cacheRead", "cacheWrite"]);
  const completion = sum(["output"]);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** What stays the same over one completion. */
export interface Frame {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

export function completion(frame: Frame, text: string, usage: Usage) {
  const choice = {
    index: 0,
    message: { role: "assistant", content: text, refusal: null },
    logprobs: null,
    finish_reason: "stop",
  };
  return { ...frame, object: "chat.completion", choices: [choice], usage };
}

export function chunk(
  frame: Frame,
  delta: { readonly role?: "assistant"; readonly content?: string },
  end: "stop" | null,
) {
  const choice = { index: 0, delta, logprobs: null, finish_reason: end };
  return { ...frame, object: "chat.completion.chunk", choices: [choice] };
}

export function usageChunk(frame: Frame, usage: Usage) {
  return { ...frame, object: "chat.completion.chunk", choices: [], usage };
}

const TYPES: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };

interface ProviderError {
  readonly status: number;
  readonly code: string;
  readonly type?: string;
}

/** What a client would have got from the provider itself, by what was the matter with the model. */
const PROVIDER_ERRORS: Readonly<Record<string, ProviderError>> = {
  rate_limited: { status: 429, code: "rate_limit_exceeded" },
  billing: { status: 429, code: "insufficient_quota", type: "insufficient_quota" },
  overloaded: { status: 503, code: "overloaded" },
  timeout: { status: 504, code: "timeout" },
  context_overflow: { status: 400, code: "context_length_exceeded" },
  content_filter: { status: 400, code: "content_filter" },
  bad_request: { status: 400, code: "bad_request" },
};

export interface OpenAiFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: {
      readonly message: string;
      readonly type: string;
      readonly param: null;
      readonly code: string;
    };
  };
}

/** OpenAI's form of a failed request; our own keys and settings being wrong stays a fault of the server. */
export function openAiFailure({ status, body }: Failure): OpenAiFailure {
  const { code, message, details } = body.error;
  const why = code === "turn_failed" && typeof details.why === "string" ? details.why : "";
  const known = Object.hasOwn(PROVIDER_ERRORS, why) ? PROVIDER_ERRORS[why] : undefined;
  const found = known ?? { status, code };
  const type = found.type ?? TYPES[found.status] ?? (found.status < 500 ? "invalid_request_error" : "server_error");
  const waitMs = known !== undefined && typeof details.retryAfterMs === "number" ? details.retryAfterMs : null;
  return {
    status: found.status,
    headers: waitMs === null ? {} : { "retry-after": String(Math.ceil(waitMs / 1000)) },
    body: { error: { message, type, param: null, code: found.code } },
  };
}
