/** What waits, over HTTP: approvals and their decisions, the lanes, replies that were given up. */
import { foldersOf, ledgerOf, settleByPerson } from "@holdfast/agent";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import { routeKey } from "../routes.ts";
import { type Revision, revise } from "../queue/revise.ts";
import { wireItem } from "../bodies.ts";
import { laneReport, queueDecision, resend, waitingApprovals } from "../queue/look.ts";
import type { WireApproval, WireItem, WireLaneItem } from "../wire/index.ts";
import { actRoutes } from "./acts.ts";
import { parsed } from "./api.ts";
import type { HttpParts } from "./server.ts";

const decision = z.strictObject({ decision: z.enum(["yes", "no"]) });
type Named = { Params: { id: string } };

const verdict = z.strictObject({ happened: z.boolean(), note: z.string().max(2_000).optional() });

function actionRoutes(app: FastifyInstance, { agents, routing }: HttpParts): void {
  const agentFor = (key: string) => {
    const to = routeKey(key, routing);
    if (to.kind === "refused") throw new GatewayError(to.code, to.details);
    return agents.get(to.agentId)!;
  };
  app.get<{ Params: { key: string } }>("/api/sessions/:key/actions", async ({ params: { key } }) => {
    const { sessions } = agentFor(key);
    if ((await sessions.get(key)) === undefined) return { actions: [] };
    await using session = await sessions.open(key);
    return { actions: await ledgerOf(session) };
  });

  app.post<{ Params: { key: string; id: string } }>("/api/sessions/:key/actions/:id", async (request) => {
    const { key, id } = request.params;
    const { happened, note } = parsed(verdict, request.body);
    const agent = agentFor(key);
    const { sessions, world } = agent;
    if ((await sessions.get(key)) === undefined) throw new GatewayError("not_found", { path: request.url });
    await using session = await sessions.open(key);
    const settled = await settleByPerson(
      session,
      { key: id, happened, by: "owner", ...(note === undefined ? {} : { note }) },
      { folders: foldersOf(agent), world },
    );
    if (settled.kind === "settled") return { action: settled.action, durable: settled.durable };
    if (settled.kind === "open") throw new GatewayError("action_open", { id });
    throw new GatewayError("no_action", { id });
  });
}

type ItemNamed = { Params: { key: string; id: string } };
const newText = z.strictObject({
  text: z.string().refine((text) => text.trim() !== "", "expected more than white space"),
});

/** What waits can be changed or taken back until somebody begins it. */
function itemRoutes(app: FastifyInstance, { store, world, routing, changed, wake }: HttpParts): void {
  const revised = async ({ key, id }: ItemNamed["Params"], revision: Revision): Promise<{ item: WireItem }> => {
    const to = routeKey(key, routing);
    if (to.kind === "refused") throw new GatewayError(to.code, to.details);
    const item = await revise(
      (each) => each.id === id,
      { sessionKey: to.sessionKey, revision },
      { store, world, changed },
    );
    if (item === null) throw new GatewayError("item_taken");
    wake();
    return { item: wireItem(item) };
  };
  app.patch<ItemNamed>("/api/sessions/:key/items/:id", ({ params, body }) =>
    revised(params, { kind: "edited", ...parsed(newText, body) }),
  );
  app.delete<ItemNamed>("/api/sessions/:key/items/:id", ({ params }) => revised(params, { kind: "deleted" }));
}

export function operationRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { store, world } = parts;
  app.get("/api/approvals", async (): Promise<{ approvals: readonly WireApproval[] }> => {
    return { approvals: await waitingApprovals(store) };
  });

  app.post<Named>("/api/approvals/:id", async (request): Promise<{ approval: WireApproval; durable: true }> => {
    const body = parsed(decision, request.body);
    const queued = await queueDecision(
      { id: request.params.id, decision: body.decision, by: "owner" },
      { store, world },
    );
    if (queued.kind === "none") throw new GatewayError("no_approval", { id: request.params.id });
    if (queued.kind === "several")
      throw new GatewayError("bad_request", { why: `several begin so: ${queued.ids.join(", ")}` });
    parts.wake();
    return { approval: queued.approval, durable: true };
  });

  itemRoutes(app, parts);
  actionRoutes(app, parts);
  actRoutes(app, parts);
  app.get("/api/lanes", async (): Promise<{ items: readonly WireLaneItem[] }> => ({ items: await laneReport(store) }));

  app.post<Named>("/api/lanes/:id/resend", async (request): Promise<{ queued: true }> => {
    if (!(await resend(request.params.id, { store, world })))
      throw new GatewayError("not_found", { path: request.url });
    parts.wake();
    return { queued: true };
  });
}
