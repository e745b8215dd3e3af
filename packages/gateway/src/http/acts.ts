/** What people do with whole conversations, over HTTP (wire/acts.ts has the shapes), and retention on demand. */
import { dirname } from "node:path";
import type { Agent } from "@holdfast/agent";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { actsOn } from "../acts.ts";
import { GatewayError } from "../errors.ts";
import { routeKey } from "../routes.ts";
import type { ConversationActs } from "../wire/index.ts";
import { parsed } from "./api.ts";
import type { HttpParts } from "./server.ts";

type Keyed = { Params: { key: string } };
type Act = (acts: ConversationActs, key: string, body: unknown) => Promise<{ readonly key: string }>;

const entryId = z.string().min(1).max(256);
const text = z.string().max(2_000);
const nothing = z.strictObject({}).nullish();
const bodies = {
  branch: z.strictObject({ entryId }),
  fork: z.strictObject({ to: z.string(), entryId: entryId.optional(), wholeTurns: z.boolean().optional() }),
  label: z.strictObject({ entryId, label: text }),
  rename: z.strictObject({ name: text }),
  restore: z.strictObject({ agentId: z.string(), name: z.string().min(1).max(512), as: z.string().optional() }),
  // Said each time, so that nothing is destroyed by an empty request.
  purge: z.strictObject({ dryRun: z.boolean() }),
  cleanup: z.strictObject({ agentId: z.string().optional(), dryRun: z.boolean().optional() }).nullish(),
};

const ACTS: Readonly<Record<string, Act>> = {
  branch: (acts, key, body) => acts.branch(key, parsed(bodies.branch, body).entryId),
  fork: (acts, key, body) => {
    const { to, ...point } = parsed(bodies.fork, body);
    return acts.fork(key, to, {
      ...(point.entryId === undefined ? {} : { entryId: point.entryId }),
      ...(point.wholeTurns === undefined ? {} : { wholeTurns: point.wholeTurns }),
    });
  },
  label: (acts, key, body) => {
    const asked = parsed(bodies.label, body);
    return acts.label(key, asked.entryId, asked.label);
  },
  rename: (acts, key, body) => acts.rename(key, parsed(bodies.rename, body).name),
  reset: (acts, key, body) => bare(body) && acts.reset(key),
  archive: (acts, key, body) => bare(body) && acts.archive(key),
  clear: (acts, key, body) => bare(body) && acts.clear(key),
  purge: (acts, key, body) => acts.purge(key, parsed(bodies.purge, body).dryRun),
};

/** An act without settings has an empty body or none. Throws `bad_request`. */
function bare(body: unknown): true {
  parsed(nothing, body);
  return true;
}

export function actRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { agents, hub, routing } = parts;
  /** Whoever looks at a conversation that was changed by other than a message takes it in anew. */
  const told = <T extends { readonly key: string }>(done: T): T => {
    hub.publish(done.key, { type: "snapshot" });
    return done;
  };
  for (const [name, act] of Object.entries(ACTS)) {
    app.post<Keyed>(`/api/sessions/:key/${name}`, async (request: FastifyRequest<Keyed>) => {
      const to = routeKey(request.params.key, routing);
      if (to.kind === "refused") throw new GatewayError(to.code, to.details);
      return told(await act(actsOf(agents.get(to.agentId)!), to.sessionKey, request.body));
    });
  }

  app.post("/api/restore", async (request) => {
    const { agentId, name, as } = parsed(bodies.restore, request.body);
    return told(await actsOf(agentNamed(parts, agentId)).restore(name, as));
  });

  app.post("/api/cleanup", async (request) => {
    const { agentId = null, dryRun = false } = parsed(bodies.cleanup, request.body) ?? {};
    if (agentId !== null) agentNamed(parts, agentId);
    return { agents: await parts.cleanUp({ agentId, dryRun, signal: parts.stopping }) };
  });
}

function actsOf({ sessions, home, world }: Agent): ConversationActs {
  return actsOn(sessions, { home: dirname(home.actions), world });
}

/** Throws `no_agent`. */
function agentNamed({ agents, routing }: HttpParts, agentId: string) {
  const found = agents.get(agentId);
  if (found === undefined) throw new GatewayError("no_agent", { agent: agentId, known: routing.agents.join(", ") });
  return found;
}
