/**
 * A streamed completion. What is sent is provisional until the last chunk; the protocol cannot take text back, so an answer
 * that is withdrawn after part of it was sent ends the stream with an error.
 */
import type { ServerResponse } from "node:http";
import { LIMITS } from "@holdfast/base";
import { GatewayError } from "../errors.ts";
import { failureOf } from "../http/errors.ts";
import type { HttpParts } from "../http/server.ts";
import type { Answered, Telling } from "./answers.ts";
import { type ChatRequest, chunk, type Frame, openAiFailure, usageChunk, usageOf } from "./shapes.ts";

/** One call: what was asked, and how to get the answer. */
export interface Call {
  readonly body: ChatRequest;
  readonly frame: Frame;
  answer(telling: Telling): Promise<Answered>;
}

/** Sends until the answer is whole or failed; never rejects. */
export async function stream(call: Call, response: ServerResponse, parts: HttpParts): Promise<void> {
  const { frame, body } = call;
  const send = (value: unknown): void => {
    if (!response.headersSent)
      response.writeHead(200, { ...parts.headers, "content-type": "text/event-stream; charset=utf-8" });
    if (!response.destroyed) response.write(`data: ${JSON.stringify(value)}\n\n`);
  };
  const text = textSender(frame, send);
  try {
    const answered = await call.answer(text);
    text.finish(answered);
    send(chunk(frame, {}, "stop"));
    if (body.stream_options?.include_usage === true) send(usageChunk(frame, usageOf(answered.usages)));
    response.end("data: [DONE]\n\n");
  } catch (error) {
    fail(response, error, parts);
  }
}

/** Before the first chunk a failure is an ordinary error answer; after it, an error event. */
function fail(response: ServerResponse, error: unknown, parts: HttpParts): void {
  const failure = openAiFailure(failureOf(error, { ...parts, limitBytes: LIMITS.messageBytesMax }));
  const body = JSON.stringify(failure.body);
  if (response.headersSent) {
    response.end(`data: ${body}\n\n`);
    return;
  }
  const headers = { ...parts.headers, ...failure.headers, "content-type": "application/json; charset=utf-8" };
  response.writeHead(failure.status, headers);
  response.end(body);
}

/** Text of several answers of one turn is set apart by a blank line. */
function textSender(frame: Frame, send: (value: unknown) => void): Telling & { finish(answered: Answered): void } {
  const sent = new Map<string, string>();
  let withdrawn = false;
  const sendText = (answerId: string, text: string): void => {
    const before = sent.get(answerId);
    if (sent.size === 0) send(chunk(frame, { role: "assistant", content: "" }, null));
    const gap = before === undefined && sent.size > 0 ? "\n\n" : "";
    sent.set(answerId, (before ?? "") + text);
    send(chunk(frame, { content: gap + text }, null));
  };
  return {
    delta(answerId, delta) {
      if (delta.kind === "text") sendText(answerId, delta.text);
    },
    withdrawn(answerId) {
      withdrawn ||= sent.has(answerId);
    },
    finish({ entryId, text }) {
      if (withdrawn) throw new GatewayError("turn_failed", { text: "Part of this stream was withdrawn. Ask again." });
      const rest = text.slice(sent.get(entryId)?.length ?? 0);
      if (rest !== "") sendText(entryId, rest);
    },
  };
}
