/**
 * Where a message goes, or why it goes nowhere. Pure: the same message and configuration give the same route.
 * Invariant: a stranger's message never reaches the owner's conversation, and without a sender it reaches none.
 */
import type { ErrorDetails } from "@holdfast/base";
import { isSessionKey, parseSessionKey } from "@holdfast/sessions";
import type { Arrival } from "./channels.ts";

export type DmScope = "owner-main" | "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";
export type RefusalCode = "bad_session_key" | "no_agent" | "no_peer";

export interface Routing {
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  readonly dmScope: DmScope;
}

export interface Refusal {
  readonly kind: "refused";
  readonly code: RefusalCode;
  readonly details: ErrorDetails;
}
export type Route = { readonly kind: "to"; readonly agentId: string; readonly sessionKey: string } | Refusal;

export function mainKey(agentId: string): string {
  return `agent:${agentId}:main`;
}

/** The agent of a key, or null when it is not one. */
export function agentOf(sessionKey: string): string | null {
  return isSessionKey(sessionKey) ? parseSessionKey(sessionKey).agentId : null;
}

/** A route for a key that somebody chose: the agent must exist. */
export function routeKey(sessionKey: string, routing: Routing): Route {
  const agentId = agentOf(sessionKey);
  if (agentId === null) return { kind: "refused", code: "bad_session_key", details: { key: sessionKey.slice(0, 100) } };
  if (routing.agents.includes(agentId)) return { kind: "to", agentId, sessionKey };
  return { kind: "refused", code: "no_agent", details: { agent: agentId, known: routing.agents.join(", ") } };
}

/** Direct messages; a chosen key counts only from the owner. */
export function route({ message, asked }: Arrival, routing: Routing): Route {
  const { from, address } = message;
  if (from.id.trim() === "") return { kind: "refused", code: "no_peer", details: {} };
  if (asked !== null && from.owner) return routeKey(asked, routing);
  const agentId = routing.defaultAgent;
  const peer = encodeURIComponent(from.id);
  const to = (rest: string): Route => ({ kind: "to", agentId, sessionKey: `agent:${agentId}:${rest}` });
  switch (routing.dmScope) {
    case "main":
      return to("main");
    case "owner-main":
      return to(from.owner ? "main" : `${address.channel}:${address.account}:direct:${peer}`);
    case "per-peer":
      return to(`direct:${peer}`);
    case "per-channel-peer":
      return to(`${address.channel}:direct:${peer}`);
    case "per-account-channel-peer":
      return to(`${address.channel}:${address.account}:direct:${peer}`);
  }
}
