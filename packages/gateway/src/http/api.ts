/** The JSON API of the dashboard and the command line (wire/index.ts has the shapes). */
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { LIMITS } from "@holdfast/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Agent } from "@holdfast/agent";
import type { Entry } from "@holdfast/sessions";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import { isRehearsal } from "../models.ts";
import { mainKey, routeKey } from "../routes.ts";
import { ENTRIES_LIMIT, listSessions, snapshot } from "../snapshot.ts";
import { keepAttachment, keptAttachment } from "../inbox.ts";
import type {
  WireAccepted,
  WireAttached,
  WireAnswer,
  WireSessionList,
  WireSignInLink,
  WireSnapshot,
  WireStatus,
} from "../wire/index.ts";
import { signInPath } from "./access.ts";
import type { HttpParts } from "./server.ts";
import { streamEvents } from "./stream.ts";

const attachment = z.strictObject({
  path: z.string().max(300),
  name: z.string().max(300).optional(),
  type: z.string().max(200).optional(),
});
const postBody = z
  .strictObject({
    text: z.string().prefault(""),
    wait: z.boolean().optional(),
    attachments: z.array(attachment).max(LIMITS.attachmentsMax).prefault([]),
  })
  .refine(({ text, attachments }) => text.trim() !== "" || attachments.length > 0, {
    path: ["text"],
    message: "expected more than white space",
  });
const page = z.object({
  before: z.string().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(ENTRIES_LIMIT.max).prefault(ENTRIES_LIMIT.default),
});
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

/** Parses, or throws `bad_request` naming the first thing that is wrong. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.join(".") ?? "";
  throw new GatewayError("bad_request", { why: `${path === "" ? "" : `${path}: `}${issue?.message ?? "invalid"}` });
}

export function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** A signal that ends when the client hangs up (or has its answer), or when the server stops. */
export function goneSignal(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new GatewayError("stopping")));
  return AbortSignal.any([gone.signal, stopping]);
}

/** The client's own key, or null. Throws `bad_request` where it is too long or not printable. */
export function idempotencyKey(request: FastifyRequest): string | null {
  const key = header(request, "idempotency-key");
  if (key === null || IDEMPOTENCY_KEY.test(key)) return key;
  throw new GatewayError("bad_request", { why: "Idempotency-Key: expected 1 to 200 printable ASCII characters" });
}

export function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

type Keyed = { Params: { key: string } };

/** One entry as it stands, with what pages of history leave out. */
function entryRoute(app: FastifyInstance, keyed: (request: KeyedRequest) => { key: string; agent: Agent }): void {
  app.get<{ Params: { key: string; id: string } }>(
    "/api/sessions/:key/entries/:id",
    async (request): Promise<Entry> => {
      const { key, agent } = keyed(request);
      const missing = new GatewayError("not_found", { path: request.url });
      if ((await agent.sessions.get(key)) === undefined) throw missing;
      await using session = await agent.sessions.open(key);
      const entry = await session.entry(request.params.id);
      if (entry === undefined) throw missing;
      return entry;
    },
  );
}

/** The body is the file, whatever its type says. */
function attachmentRoute(app: FastifyInstance, agentOf: (request: KeyedRequest) => Agent): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.post<Keyed>(
      "/api/sessions/:key/attachments",
      { bodyLimit: LIMITS.attachmentBytesMax },
      async (request, reply): Promise<WireAttached> => {
        const { name } = parsed(z.object({ name: z.string().min(1).max(300) }), request.query);
        const { workspace, world } = agentOf(request);
        const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const type = (header(request, "content-type") ?? "").split(";")[0]!.trim();
        reply.code(201);
        return { attachment: await keepAttachment({ name, type, content }, { workspace, world }) };
      },
    );
  });
}

type KeyedRequest = { readonly params: { readonly key: string } };

export function apiRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.post("/api/signin-link", (): WireSignInLink => ({ path: signInPath(parts.access) }));
  const { agents, routing, store, hub, world } = parts;
  const startedAt = world.nowMs();
  const running = version();
  /** The key of the path, checked; and whose it is. */
  const keyed = (request: KeyedRequest) => {
    const to = routeKey(request.params.key, routing);
    if (to.kind === "refused") throw new GatewayError(to.code, to.details);
    return { key: to.sessionKey, agent: agents.get(to.agentId)! };
  };

  app.get("/api/status", (): WireStatus => {
    const model = agents.get(routing.defaultAgent)!.model;
    const { defaultAgent: agentId } = routing;
    const defaultSession = mainKey(agentId);
    return { version: running, defaultSession, model: model.name, rehearsal: isRehearsal(model), agentId, startedAt };
  });

  app.get("/api/sessions", async (): Promise<WireSessionList> => {
    return { sessions: await listSessions([...agents.values()].map((agent) => agent.sessions)) };
  });

  app.get<Keyed>("/api/sessions/:key/entries", async (request): Promise<WireSnapshot> => {
    const { key, agent } = keyed(request);
    const { before = null, limit } = parsed(page, request.query);
    return snapshot({ key, before, limit }, { sessions: agent.sessions, store, hub });
  });

  entryRoute(app, keyed);
  attachmentRoute(app, (request) => keyed(request).agent);
  app.post<Keyed>(
    "/api/sessions/:key/messages",
    { bodyLimit: LIMITS.messageBytesMax, onResponse: async () => world.at("http:after-ack") },
    async (request, reply): Promise<WireAccepted | WireAnswer> => {
      const { key, agent } = keyed(request);
      const { text, wait = false, attachments: named } = parsed(postBody, request.body);
      const attachments = await Promise.all(named.map((each) => keptAttachment(each, agent.workspace)));
      const signal = goneSignal(reply.raw, parts.stopping);
      const posted = await parts.post({
        sessionKey: key,
        text,
        attachments,
        clientKey: idempotencyKey(request),
        wait,
        signal,
      });
      if (posted.kind === "refused") throw new GatewayError(posted.code, posted.details);
      world.at("http:before-ack");
      if (posted.kind === "answered") return posted.answer;
      reply.code(202);
      return { accepted: true, durable: true, item: posted.item };
    },
  );

  app.get<Keyed>("/api/sessions/:key/stream", (request, reply) => {
    const { key } = keyed(request);
    const { after } = parsed(z.object({ after: z.string().optional() }), request.query);
    if (request.method === "HEAD") return reply.type("text/event-stream; charset=utf-8").send();
    reply.hijack();
    streamEvents(reply.raw, {
      hub,
      world,
      key,
      after: header(request, "last-event-id") ?? after ?? null,
      headers: parts.headers,
    });
  });
}
