/** What waits, over HTTP: approvals and their decisions, the lanes, replies that were given up. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { GatewayError } from "../errors.ts";
import { laneReport, queueDecision, resend, waitingApprovals } from "../queue/look.ts";
import type { WireApproval, WireLaneItem } from "../wire/index.ts";
import { parsed } from "./api.ts";
import type { HttpParts } from "./server.ts";

const decision = z.strictObject({ decision: z.enum(["yes", "no"]) });
type Named = { Params: { id: string } };

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

  app.get("/api/lanes", async (): Promise<{ items: readonly WireLaneItem[] }> => ({ items: await laneReport(store) }));

  app.post<Named>("/api/lanes/:id/resend", async (request): Promise<{ queued: true }> => {
    if (!(await resend(request.params.id, { store, world })))
      throw new GatewayError("not_found", { path: request.url });
    parts.wake();
    return { queued: true };
  });
}
