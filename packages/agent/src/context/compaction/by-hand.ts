/**
 * A person's `/compact`: under a turn right of its own, so that no turn goes on meanwhile.
 * Invariant: what cannot be done now is said, and leaves everything as it is.
 */
import { LIMITS } from "@holdfast/base";
import type { NewEntry } from "@holdfast/sessions";
import type { Agent } from "../../types.ts";
import { openCalls } from "../../next-step.ts";
import { keepRight } from "../../work.ts";
import { REHEARSAL } from "../../model/rehearsal.ts";
import { type Compacted, compact } from "./compact.ts";

export type CompactedByHand = Compacted | { readonly kind: "busy" } | { readonly kind: "calls_open" };

/** Throws what the session throws. */
export async function compactByHand(
  agent: Agent,
  sessionKey: string,
  { focus, signal }: { readonly focus: string | null; readonly signal: AbortSignal },
): Promise<CompactedByHand> {
  await using session = await agent.sessions.open(sessionKey);
  const claim = await session.claimTurn(agent.holder, LIMITS.leaseMs);
  if (claim.kind === "held") return { kind: "busy" };
  await using kept = keepRight(session, claim.right, { agent, signal });
  await session.catchUp();
  // What another program left open is completed in requests only.
  if (openCalls(session.path()).some(({ answer }) => answer.g !== undefined)) return { kind: "calls_open" };
  const { model, world } = agent;
  const settings = agent.compaction ?? COMPACTION;
  // Fixed rules cannot summarise.
  const strategy = model.name === REHEARSAL ? "truncate" : settings.strategy;
  const add = (entry: NewEntry) => session.append(entry, { right: claim.right });
  const work = { session, add, model, world, settings: { ...settings, strategy }, signal: kept.signal };
  const compacted = await compact(work, { focus, reason: "manual" });
  const entry = compacted.kind === "compacted" ? session.path().find(({ id }) => id === compacted.entryId) : undefined;
  if (entry !== undefined) agent.observe(sessionKey, { kind: "entries", entries: [entry], durable: true });
  return compacted;
}

/** As in docs/config.md. */
export const COMPACTION = {
  strategy: "summary",
  keepRecentTokens: 20_000,
  keepRecentMessages: null,
  instructions: null,
  reserveTokens: 20_000,
  auto: true,
} as const;
