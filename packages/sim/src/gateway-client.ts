/**
 * The sender's side of a campaign: it posts, remembers what was acknowledged, and asks again the way a platform redelivers.
 * Invariant: "acknowledged" means that this client saw the 202, nothing else.
 */
import { isObject, type World } from "@holdfast/base";
import type { WireSnapshot } from "@holdfast/gateway/wire";
import { CAMPAIGN_TOKEN } from "./gateway-child.ts";

export const CAMPAIGN_SESSION = "agent:main:main";
const HEADERS = { authorization: `Bearer ${CAMPAIGN_TOKEN}`, "content-type": "application/json" };

function sessionUrl(address: string, tail: string): string {
  return `${address}/api/sessions/${encodeURIComponent(CAMPAIGN_SESSION)}/${tail}`;
}

/** True when the gateway acknowledged; false when the connection broke first. Any other status is thrown. */
export async function post(address: string, text: string, clientKey: string): Promise<boolean> {
  let response: Response;
  try {
    response = await fetch(sessionUrl(address, "messages"), {
      method: "POST",
      headers: { ...HEADERS, "idempotency-key": clientKey },
      body: JSON.stringify({ text }),
    });
  } catch {
    return false; // killed before the acknowledgement: this client must ask again
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 202 || response.status === 200) return isObject(body);
  throw new Error(`the gateway refused the message: ${response.status} ${JSON.stringify(body)}`);
}

/** The session as a client sees it, or null when the gateway is gone. */
export async function snapshot(address: string): Promise<WireSnapshot | null> {
  try {
    const response = await fetch(sessionUrl(address, "entries?limit=500"), { headers: HEADERS });
    return response.ok ? ((await response.json()) as WireSnapshot) : null;
  } catch {
    return null;
  }
}

/** Waits until nothing is queued or running and something was said; returns what is seen then, or null at the time limit. */
export async function settled(world: World, address: string, limitMs: number): Promise<WireSnapshot | null> {
  const startedMs = world.monotonicMs();
  while (world.monotonicMs() - startedMs < limitMs) {
    const seen = await snapshot(address);
    const open = seen?.items.some((item) => item.state === "queued" || item.state === "running") ?? true;
    if (seen !== null && !open && !seen.running && seen.entries.length > 0) return seen;
    await world.sleep(25);
  }
  return null;
}
