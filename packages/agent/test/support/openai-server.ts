/**
 * An OpenAI-compatible provider on loopback whose misbehaviour is scripted: one reply per request, in order, or a function.
 * What it saw is kept: headers, body, and how each connection ended, as facts from outside the client.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface ToolCallPieces {
  readonly id: string;
  readonly name: string;
  /** Pieces of the arguments' JSON text. */
  readonly pieces: readonly string[];
}
/** What happens after the last event. */
export type End =
  /** finish_reason, usage, [DONE] */
  | { readonly kind: "finish"; readonly reason: string; readonly usage: boolean }
  /** `[DONE]` and a proper end, but no finish_reason. */
  | { readonly kind: "unfinished" }
  /** The connection is destroyed. */
  | { readonly kind: "cut" }
  /** Nothing more, the connection stays open. */
  | { readonly kind: "stall" };
export interface StreamReply {
  readonly kind: "stream";
  readonly text: readonly string[];
  readonly calls: readonly ToolCallPieces[];
  readonly end: End;
  /** Between two events. */
  readonly pauseMs: number;
}
export type Reply =
  | StreamReply
  | {
      readonly kind: "error";
      readonly status: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Bytes as they are, each written by itself, then `end`, unless the connection `stays` open. */
  | { readonly kind: "raw"; readonly pieces: readonly Uint8Array[]; readonly stays?: boolean }
  /** Not even headers. */
  | { readonly kind: "silent" };

const FINISHED: End = { kind: "finish", reason: "stop", usage: true };

/** Streams text, then ends as told (properly by default). */
export function streams(text: readonly string[], more: Partial<Omit<StreamReply, "kind" | "text">> = {}): StreamReply {
  return { kind: "stream", text, calls: [], end: FINISHED, pauseMs: 0, ...more };
}

/** Calls tools. */
export function calls(...called: readonly ToolCallPieces[]): StreamReply {
  return streams([], { calls: called, end: { kind: "finish", reason: "tool_calls", usage: true } });
}

/** Refuses with a status and OpenAI's error body. */
export function refuses(
  status: number,
  error: { readonly message: string; readonly code?: string; readonly type?: string },
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { kind: "error", status, body: JSON.stringify({ error }), headers };
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // any: a request body is whatever the client sent; tests look into it.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
  /** Resolves when the connection's response ended: "finished" by us, or "closed" by the client before that. */
  readonly ended: Promise<"finished" | "closed">;
}
export interface OpenAiServer extends AsyncDisposable {
  /** Base URL, ending in /v1. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/** Starts on a free port. A request beyond the script's end is refused with 599. */
export async function startOpenAiServer(
  script: readonly Reply[] | ((request: SeenRequest, index: number) => Reply),
): Promise<OpenAiServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((message, response) => {
    void serve(message, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const ended = once(response, "close").then(() => (response.writableFinished ? "finished" : "closed"));
    const body: unknown = JSON.parse(await textOf(message));
    const seen = { path: message.url ?? "", headers: message.headers, body, ended };
    requests.push(seen);
    const index = requests.length - 1;
    const scripted = typeof script === "function" ? script(seen, index) : script[index];
    await play(scripted ?? refuses(599, { message: "the script is used up" }), response);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/v1`, requests, close, [Symbol.asyncDispose]: close };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  if (reply.kind === "silent") return;
  if (reply.kind === "error") {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.body);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (reply.kind === "raw") {
    for (const piece of reply.pieces) {
      await new Promise((resolve) => response.write(piece, resolve));
      await delay(2);
    }
    if (reply.stays !== true) response.end();
    return;
  }
  for (const chunk of chunksOf(reply)) {
    if (response.destroyed) return;
    await new Promise((resolve) => response.write(event(chunk), resolve));
    if (reply.pauseMs > 0) await delay(reply.pauseMs);
  }
  finish(reply.end, response);
}

function finish(end: End, response: ServerResponse): void {
  if (end.kind === "stall") return;
  if (end.kind === "cut") {
    response.socket?.destroy();
    return;
  }
  if (end.kind === "finish") {
    response.write(event(chunk({}, end.reason)));
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    if (end.usage) response.write(event({ ...chunk({}, null), choices: [], usage }));
  }
  response.end("data: [DONE]\n\n");
}

/** One SSE event. */
export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export function chunk(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

function* chunksOf({ text, calls: called }: StreamReply): Generator<object> {
  for (const content of text) yield chunk({ content });
  for (const [index, { id, name, pieces }] of called.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of pieces) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
}
