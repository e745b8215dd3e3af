/**
 * A model provider on loopback for campaigns: OpenAI chat completions over a real socket, answered from the request alone.
 * Invariant: it keeps no state that decides an answer. The same history gets the same answer however often the gateway was
 * killed meanwhile, so what differs between two runs comes from the gateway.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, tryParse } from "@holdfast/base";

/** One answer: text, or calls, decided from how many tool results follow the last user message. */
export interface PlannedAnswer {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }[];
}
/** `results` are the texts of the tool results since the last user message, oldest first. */
export type Plan = (results: readonly string[]) => PlannedAnswer;

export interface ModelServer extends AsyncDisposable {
  /** Base URL for a provider of api `openai-completions`, ending in `/v1`. */
  readonly url: string;
  /** Questions asked so far, the ones whose asker died included. */
  questions(): number;
}

function resultsSinceUser(body: unknown): string[] {
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const asked = messages.findLastIndex((message) => message.role === "user");
  return messages
    .slice(asked + 1)
    .filter((message) => message.role === "tool")
    .map((message) => (typeof message.content === "string" ? message.content : JSON.stringify(message.content)));
}

function chunk(delta: unknown, finish: string | null): string {
  const body = {
    id: "chatcmpl-campaign",
    object: "chat.completion.chunk",
    created: 1,
    model: "campaign",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

function writeAnswer(response: ServerResponse, answer: PlannedAnswer): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ role: "assistant", content: "" }, null));
  for (const part of answer.text.match(/.{1,12}/gsu) ?? []) response.write(chunk({ content: part }, null));
  for (const [index, call] of answer.calls.entries()) {
    const text = JSON.stringify(call.args);
    const half = Math.floor(text.length / 2);
    const head = {
      index,
      id: `call_${index}`,
      type: "function",
      function: { name: call.tool, arguments: text.slice(0, half) },
    };
    response.write(chunk({ tool_calls: [head] }, null));
    response.write(chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }, null));
  }
  response.write(chunk({}, answer.calls.length > 0 ? "tool_calls" : "stop"));
  response.end("data: [DONE]\n\n");
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return tryParse(Buffer.concat(parts).toString("utf8"));
}

/** Starts on a free loopback port. Call ids repeat (`call_0`) as those of some servers do. */
export async function startModelServer(plan: Plan): Promise<ModelServer> {
  const asked = { count: 0 };
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      asked.count += 1;
      writeAnswer(response, plan(resultsSinceUser(body)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    questions: () => asked.count,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
