/**
 * The HTTP door: hooks that hold for every request, then the routes.
 * Order: host → origin → sign-in → route. Loaded only when the gateway listens.
 */
import type { Agent } from "@holdfast/agent";
import { errnoOf, LIMITS, messageOf, type World } from "@holdfast/base";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { GatewayError } from "../errors.ts";
import type { LaneStore } from "../lanes.ts";
import type { Hub } from "../live/hub.ts";
import type { Log } from "../log.ts";
import { openAiFailure } from "../openai/shapes.ts";
import { openAiRoutes } from "../openai/routes.ts";
import type { Posted, PostRequest } from "../post.ts";
import type { Routing } from "../routes.ts";
import { type Access, checkHost, checkOrigin, createAccess, isLoopback, signInPath } from "./access.ts";
import { apiRoutes } from "./api.ts";
import { operationRoutes } from "./operations.ts";
import { failureOf } from "./errors.ts";
import { pageRoutes } from "./page.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a sign-in. */
    open?: boolean;
  }
}

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly world: World;
  readonly log: Log;
  readonly hub: Hub;
  readonly store: LaneStore;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly routing: Routing;
  /** Stateless calls at once. */
  readonly statelessMax: number;
  readonly dashboardRoot: string | null;
  /** Rings the lanes. */
  wake(): void;
  /** Told after an item changed. Must not throw. */
  changed(itemId: string): void;
  post(request: PostRequest): Promise<Posted>;
  /** Retention now; what it did, for each agent. */
  cleanUp(asked: {
    /** Null: all. */
    readonly agentId: string | null;
    readonly dryRun: boolean;
    readonly signal: AbortSignal;
  }): Promise<readonly object[]>;
}

/** What routes are made of. */
export interface HttpParts extends HttpOptions {
  readonly access: Access;
  /** Security headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

export interface HttpServer {
  readonly address: string;
  signInLink(): string;
  /** Ends waiting requests and streams. */
  close(): Promise<void>;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const UNAVAILABLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken; stop what uses it, or set gateway.port",
  EACCES: "permission denied; choose a port above 1023 in gateway.port",
  EADDRNOTAVAIL: "this machine has no such address; see gateway.host",
  ENOTFOUND: "there is no such host; see gateway.host",
};

/** Listens. Throws `http_unavailable`. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port, log, world, token } = options;
  const stopping = new AbortController();
  const access = createAccess(token, world);
  const app = await built({ ...options, access, headers: HEADERS, stopping: stopping.signal });
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const why = UNAVAILABLE[errnoOf(error) ?? ""] ?? messageOf(error);
    throw new GatewayError("http_unavailable", { host, port, why }, error);
  }
  if (!isLoopback(host))
    log.warn("this gateway can be reached from the network; its token is all that protects it", { host });
  const address = `http://${printable(host)}:${boundPort(app)}`;
  return {
    address,
    signInLink: () => `${address}${signInPath(access)}`,
    async close() {
      stopping.abort(new GatewayError("stopping"));
      await app.close();
    },
  };
}

/** The host as part of an address that works on this machine. */
function printable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** The port, also where 0 was asked for. */
function boundPort(app: FastifyInstance): number {
  const bound = app.server.address();
  return typeof bound === "object" && bound !== null ? bound.port : 0;
}

async function built(parts: HttpParts): Promise<FastifyInstance> {
  const { routing } = parts;
  const limitBytes = LIMITS.messageBytesMax;
  const app = fastify({
    logger: false,
    bodyLimit: limitBytes,
    forceCloseConnections: true,
    // What is refused before there is a route, such as a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => void refuse(error, request, { reply: reply.headers(HEADERS), parts }),
    routerOptions: { maxParamLength: 600 },
  });
  app.removeContentTypeParser("text/plain");
  app.addHook("onRequest", async (request, reply) => {
    for (const [name, value] of Object.entries(HEADERS)) reply.header(name, value);
    guard(request, parts);
  });
  app.setErrorHandler((error, request, reply) => {
    return refuse(error, request, { reply, parts });
  });
  app.get("/healthz", { config: { open: true } }, () => ({ ok: true }));
  app.get("/readyz", { config: { open: true } }, () => ({ ok: true, agents: routing.agents.length }));
  apiRoutes(app, parts);
  operationRoutes(app, parts);
  openAiRoutes(app, parts);
  await pageRoutes(app, parts);
  return app;
}

/** The promised body of a failed request, in the form of the door that was asked. */
function refuse(
  error: unknown,
  request: FastifyRequest,
  { reply, parts }: { readonly reply: FastifyReply; readonly parts: HttpParts },
): FastifyReply {
  const failure = failureOf(error, { ...parts, limitBytes: LIMITS.messageBytesMax });
  const given = request.url.startsWith("/v1/") ? openAiFailure(failure) : { ...failure, headers: {} };
  return reply.code(given.status).headers(given.headers).send(given.body);
}

function guard(request: FastifyRequest, { host, access }: HttpParts): void {
  const { headers, method } = request;
  checkHost(headers.host, host);
  const streams = request.routeOptions.url?.endsWith("/stream") === true;
  if ((method !== "GET" && method !== "HEAD") || streams) checkOrigin(headers, method);
  if (request.routeOptions.config?.open !== true) access.check(headers);
}
