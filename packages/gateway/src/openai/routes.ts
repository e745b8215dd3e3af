/**
 * The OpenAI door: chat completions, streaming and not, and the list of agents as models.
 *
 * The model `holdfast/<agentId>` names the agent; any other name means the default one. The header `x-holdfast-session` or
 * a stable `user` picks the session (`agent:<agent>:openai:direct:<user>`); without either the call is stateless.
 * What streams is provisional: an answer that is withdrawn after part of it was sent ends the stream with an error.
 */
import type { ServerResponse } from "node:http";
import type { Agent } from "@holdfast/agent";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../errors.ts";
import { goneSignal, header, idempotencyKey, parsed } from "../http/api.ts";
import type { HttpParts } from "../http/server.ts";
import { routeKey } from "../routes.ts";
import { answerInSession, answerStateless } from "./answers.ts";
import { chatRequest, completion, type Frame, usageOf } from "./shapes.ts";
import { type Call, stream } from "./stream.ts";

/** Stateless calls that run now. */
interface Busy {
  stateless: number;
}

export function openAiRoutes(app: FastifyInstance, parts: HttpParts): void {
  const busy: Busy = { stateless: 0 };
  const created = seconds(parts.world.nowMs());

  app.get("/v1/models", () => {
    const data = parts.routing.agents.map((id) => ({
      id: `holdfast/${id}`,
      object: "model",
      created,
      owned_by: "holdfast",
    }));
    return { object: "list", data };
  });

  app.post("/v1/chat/completions", async (request, reply) => {
    const call = callOf(request, reply.raw, parts, busy);
    if (call.body.stream !== true) {
      const answered = await call.answer({ delta: () => {}, withdrawn: () => {} });
      parts.world.at("http:before-ack");
      return completion(call.frame, answered.text, usageOf(answered.usages));
    }
    reply.hijack();
    await stream(call, reply.raw, parts);
  });
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function agentOfModel(model: string, { agents, routing }: HttpParts): Agent {
  const id = /^holdfast\/(.+)$/.exec(model)?.[1] ?? routing.defaultAgent;
  const agent = agents.get(id);
  if (agent === undefined) throw new GatewayError("no_agent", { agent: id, known: routing.agents.join(", ") });
  return agent;
}

function callOf(request: FastifyRequest, response: ServerResponse, parts: HttpParts, busy: Busy): Call {
  const { world, routing, agents } = parts;
  const body = parsed(chatRequest, request.body);
  const frame: Frame = { id: `chatcmpl-${world.newId("item")}`, created: seconds(world.nowMs()), model: body.model };
  const common = { messages: body.messages, signal: goneSignal(response, parts.stopping) };
  const agent = agentOfModel(body.model, parts);
  const user = body.user ? `agent:${agent.id}:openai:direct:${encodeURIComponent(body.user)}` : null;
  const asked = header(request, "x-holdfast-session") ?? user;
  if (asked === null)
    return {
      body,
      frame,
      answer: (telling) => limited(parts, busy, () => answerStateless({ ...common, telling }, agent, parts)),
    };
  const to = routeKey(asked, routing);
  if (to.kind === "refused") throw new GatewayError(to.code, to.details);
  const { sessionKey } = to;
  const clientKey = idempotencyKey(request);
  const owner = agents.get(to.agentId) ?? agent;
  return {
    body,
    frame,
    answer: (telling) => answerInSession({ ...common, telling, sessionKey, clientKey }, owner, parts),
  };
}

async function limited<T>({ statelessMax }: HttpParts, busy: Busy, run: () => Promise<T>): Promise<T> {
  if (busy.stateless >= statelessMax) throw new GatewayError("too_busy", { limit: statelessMax });
  busy.stateless += 1;
  try {
    return await run();
  } finally {
    busy.stateless -= 1;
  }
}
