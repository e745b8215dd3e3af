/**
 * Each protocol as its provider's documentation shows it: the bytes of a stream, the body of a refusal, and where in a request
 * key, model, system text and results of calls stand. Played by openai-server.ts as raw bytes.
 */
import type { Reply, SeenRequest } from "./openai-server.ts";
import type { Api } from "../../src/model/providers.ts";

export interface Said {
  readonly text?: readonly string[];
  /** A call whose arguments' JSON text comes in pieces. */
  readonly call?: { readonly id: string; readonly name: string; readonly pieces: readonly string[] };
  /** How it ends: properly, for length, or not at all. */
  readonly end?: "stop" | "length" | "none";
}

export interface Dialect {
  readonly api: Api;
  /** What stands after the server's origin in `baseUrl`. */
  readonly base: string;
  readonly path: RegExp;
  frames(said: Said): readonly string[];
  refusal(status: number, message: string): string;
  keyOf(request: SeenRequest): unknown;
  systemOf(body: SeenRequest["body"]): string;
  /** The results of calls in a request: id and text. */
  resultsOf(body: SeenRequest["body"]): readonly (readonly [string, string])[];
  readonly usage: { readonly input: number; readonly output: number };
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`;
const USAGE = { input: 11, output: 7 } as const;

const completions = (api: Api, base: string): Dialect => ({
  api,
  base,
  path: /\/v1\/chat\/completions$/u,
  frames({ text = [], call, end = "stop" }) {
    const chunk = (delta: object, finish: string | null = null) =>
      data({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    const finish = end === "length" ? "length" : call === undefined ? "stop" : "tool_calls";
    return [
      ...text.map((content) => chunk({ content })),
      ...(call === undefined
        ? []
        : call.pieces.map((piece, at) =>
            chunk({
              tool_calls: [
                at === 0
                  ? { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: piece } }
                  : { index: 0, function: { arguments: piece } },
              ],
            }),
          )),
      ...(end === "none"
        ? []
        : [
            data({
              id: "c1",
              object: "chat.completion.chunk",
              created: 1,
              model: "m",
              choices: [{ index: 0, delta: {}, finish_reason: finish }],
              usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 18 },
            }),
            "data: [DONE]\n\n",
          ]),
    ];
  },
  refusal: (_status, message) => JSON.stringify({ error: { message } }),
  keyOf: ({ headers }) => headers.authorization,
  systemOf: (body) =>
    JSON.stringify(body.messages.filter(({ role }: { role: string }) => role === "system" || role === "developer")),
  resultsOf: (body) =>
    body.messages
      .filter(({ role }: { role: string }) => role === "tool")
      .map(
        (one: { tool_call_id: string; content: unknown }) => [one.tool_call_id, JSON.stringify(one.content)] as const,
      ),
  usage: USAGE,
});

const responses: Dialect = {
  api: "openai-responses",
  base: "/v1",
  path: /\/v1\/responses$/u,
  frames({ text = [], call, end = "stop" }) {
    const whole = text.join("");
    const message = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: whole, annotations: [] }],
    };
    const called = call && {
      type: "function_call",
      id: "fc_1",
      call_id: call.id,
      name: call.name,
      arguments: call.pieces.join(""),
    };
    const at = whole === "" ? 0 : 1;
    return [
      named({ type: "response.created", ...{ response: { id: "resp_1", status: "in_progress" } } }),
      ...(whole === ""
        ? []
        : [
            named({ type: "response.output_item.added", ...{ output_index: 0, item: { ...message, content: [] } } }),
            named({
              type: "response.content_part.added",
              ...{
                output_index: 0,
                item_id: "msg_1",
                content_index: 0,
                part: { type: "output_text", text: "", annotations: [] },
              },
            }),
            ...text.map((delta) =>
              named({
                type: "response.output_text.delta",
                ...{ output_index: 0, item_id: "msg_1", content_index: 0, delta },
              }),
            ),
            ...(end === "none"
              ? []
              : [named({ type: "response.output_item.done", ...{ output_index: 0, item: message } })]),
          ]),
      ...(call === undefined
        ? []
        : [
            named({ type: "response.output_item.added", ...{ output_index: at, item: { ...called, arguments: "" } } }),
            ...call.pieces.map((delta) =>
              named({
                type: "response.function_call_arguments.delta",
                ...{ output_index: at, item_id: "fc_1", delta },
              }),
            ),
            ...(end === "none"
              ? []
              : [named({ type: "response.output_item.done", ...{ output_index: at, item: called } })]),
          ]),
      ...(end === "none"
        ? []
        : [
            named({
              type: end === "length" ? "response.incomplete" : "response.completed",
              ...{
                response: {
                  id: "resp_1",
                  status: end === "length" ? "incomplete" : "completed",
                  ...(end === "length" && { incomplete_details: { reason: "max_output_tokens" } }),
                  usage: {
                    input_tokens: USAGE.input,
                    output_tokens: USAGE.output,
                    total_tokens: 18,
                    input_tokens_details: { cached_tokens: 0 },
                  },
                },
              },
            }),
          ]),
    ];
  },
  refusal: (_status, message) => JSON.stringify({ error: { message } }),
  keyOf: ({ headers }) => headers.authorization,
  systemOf: (body) =>
    JSON.stringify([
      body.instructions,
      body.input.filter(({ role }: { role?: string }) => role === "system" || role === "developer"),
    ]),
  resultsOf: (body) =>
    body.input
      .filter(({ type }: { type?: string }) => type === "function_call_output")
      .map((one: { call_id: string; output: unknown }) => [one.call_id, JSON.stringify(one.output)] as const),
  usage: USAGE,
};

const anthropic: Dialect = {
  api: "anthropic-messages",
  base: "",
  path: /\/v1\/messages(?:\?.*)?$/u,
  frames({ text = [], call, end = "stop" }) {
    const stop = end === "length" ? "max_tokens" : call === undefined ? "end_turn" : "tool_use";
    const at = text.length > 0 ? 1 : 0;
    const block = (index: number, start: object, deltas: readonly object[]) => [
      named({ type: "content_block_start", ...{ index, content_block: start } }),
      ...deltas.map((delta) => named({ type: "content_block_delta", ...{ index, delta } })),
      ...(end === "none" ? [] : [named({ type: "content_block_stop", ...{ index } })]),
    ];
    return [
      named({
        type: "message_start",
        ...{
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            stop_reason: null,
            usage: { input_tokens: USAGE.input, output_tokens: 1 },
          },
        },
      }),
      ...(text.length === 0
        ? []
        : block(
            0,
            { type: "text", text: "" },
            text.map((one) => ({ type: "text_delta", text: one })),
          )),
      ...(call === undefined
        ? []
        : block(
            at,
            { type: "tool_use", id: call.id, name: call.name, input: {} },
            call.pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
          )),
      ...(end === "none"
        ? []
        : [
            named({
              type: "message_delta",
              ...{ delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: USAGE.output } },
            }),
            named({ type: "message_stop" }),
          ]),
    ];
  },
  refusal: (status, message) =>
    JSON.stringify({ type: "error", error: { type: status === 429 ? "rate_limit_error" : "api_error", message } }),
  keyOf: ({ headers }) => headers["x-api-key"],
  systemOf: (body) => JSON.stringify(body.system),
  resultsOf: (body) =>
    body.messages.flatMap(({ content }: { content: unknown }) =>
      Array.isArray(content)
        ? content
            .filter(({ type }) => type === "tool_result")
            .map((one) => [one.tool_use_id, JSON.stringify(one.content)] as const)
        : [],
    ),
  usage: USAGE,
};

const google: Dialect = {
  api: "google-generative-ai",
  base: "/v1beta",
  path: /\/v1beta\/models\/m:streamGenerateContent\?alt=sse$/u,
  frames({ text = [], call, end = "stop" }) {
    const usageMetadata = { promptTokenCount: USAGE.input, candidatesTokenCount: USAGE.output, totalTokenCount: 18 };
    const chunk = (parts: readonly object[], more: object = {}) =>
      data({ candidates: [{ index: 0, content: { role: "model", parts }, ...more }] });
    const args = (): object => JSON.parse(call?.pieces.join("") ?? "{}") as object;
    return [
      ...text.map((one) => chunk([{ text: one }])),
      // A call comes whole here.
      ...(call === undefined || end === "none"
        ? []
        : [chunk([{ functionCall: { id: call.id, name: call.name, args: args() } }])]),
      ...(end === "none"
        ? []
        : [
            data({
              candidates: [
                {
                  index: 0,
                  content: { role: "model", parts: [] },
                  finishReason: end === "length" ? "MAX_TOKENS" : "STOP",
                },
              ],
              usageMetadata,
            }),
          ]),
    ];
  },
  refusal: (status, message) => JSON.stringify({ error: { code: status, message, status: "UNAVAILABLE" } }),
  keyOf: ({ headers }) => headers["x-goog-api-key"],
  systemOf: (body) => JSON.stringify(body.systemInstruction),
  resultsOf: (body) =>
    body.contents.flatMap(
      ({ parts }: { parts: readonly { functionResponse?: { id?: string; name: string; response: unknown } }[] }) =>
        parts.flatMap(({ functionResponse }) =>
          functionResponse === undefined
            ? []
            : [[functionResponse.id ?? functionResponse.name, JSON.stringify(functionResponse.response)] as const],
        ),
    ),
  usage: USAGE,
};

export const DIALECTS: readonly Dialect[] = [
  completions("openai-completions", "/v1"),
  responses,
  anthropic,
  google,
  {
    ...completions("mistral-conversations", ""),
    refusal: (_status, message) => JSON.stringify({ object: "error", message }),
  },
];

/** What is said, a frame at a time, then the end of the connection. */
export function says(dialect: Dialect, said: Said): Reply {
  return { kind: "raw", pieces: dialect.frames(said).map((frame) => Buffer.from(frame)) };
}
