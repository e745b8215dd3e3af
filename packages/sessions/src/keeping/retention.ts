/**
 * Which conversations are put away, by age and by size. Pure: the one policy, whoever asks (a start, the background, a
 * person).
 *
 * Age counts from the last time a person spoke. Size counts live transcripts only. Background work (schedules, subagents)
 * goes before conversations of people, the oldest first.
 * Invariant: what is blocked is never chosen, and is named with its reason wherever it would have been.
 */
import { parseSessionKey } from "../key.ts";
import type { SessionRow } from "../types.ts";

/** Null: no such limit. */
export interface RetentionPolicy {
  readonly maxAgeMs: number | null;
  /** Bytes of live transcripts. */
  readonly maxBytes: number | null;
  /** Conversations of background work that keep a row at all. */
  readonly backgroundMax: number | null;
  /**
   * Archived transcripts of background work are destroyed this long after they were put away. Left out or null: none is.
   * Conversations of people never are.
   */
  readonly archiveMaxAgeMs?: number | null;
}

export const RETENTION: RetentionPolicy = {
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxBytes: 100 * 1024 * 1024,
  backgroundMax: 500,
};

export interface RetentionFact {
  readonly key: string;
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly lastAtMs: number;
  /** Bytes of the live transcript; null when it is in the archive or was never begun. */
  readonly bytes: number | null;
  /** Begun by a schedule or another conversation. */
  readonly background: boolean;
  /** Why it must stay; null: nothing known against it. */
  readonly blocked: string | null;
}

/** `archive`: the row stays and points into the archive. `clear`: the row goes too. */
export interface Chosen {
  readonly key: string;
  readonly sessionId: string;
  readonly act: "archive" | "clear";
  readonly why: "age" | "size" | "background";
  readonly bytes: number;
}

export interface RetentionPlan {
  readonly chosen: readonly Chosen[];
  /** Would have been chosen, but must stay. */
  readonly kept: readonly { readonly key: string; readonly sessionId: string; readonly why: string }[];
  readonly liveBytes: number;
  /** What is live after the plan was carried out. */
  readonly bytesAfter: number;
}

export function planRetention(facts: readonly RetentionFact[], policy: RetentionPolicy, nowMs: number): RetentionPlan {
  const chosen = new Map<string, Chosen>();
  const kept = new Map<string, RetentionPlan["kept"][number]>();
  const liveBytes = facts.reduce((sum, fact) => sum + (fact.bytes ?? 0), 0);
  let bytesAfter = liveBytes;
  const choose = (fact: RetentionFact, act: Chosen["act"], why: Chosen["why"]): void => {
    const { key, sessionId, bytes, blocked } = fact;
    if (blocked !== null) kept.set(key, { key, sessionId, why: blocked });
    if (blocked !== null || chosen.has(key)) return;
    chosen.set(key, { key, sessionId, act, why, bytes: bytes ?? 0 });
    bytesAfter -= bytes ?? 0;
  };
  const ordered = facts.toSorted(inOrder);
  for (const fact of surplus(ordered, policy.backgroundMax)) choose(fact, "clear", "background");
  const live = ordered.filter((fact) => fact.bytes !== null);
  for (const fact of live) if (isOld(fact, policy.maxAgeMs, nowMs)) choose(fact, "archive", "age");
  for (const fact of live) {
    if (policy.maxBytes === null || bytesAfter <= policy.maxBytes) break;
    choose(fact, "archive", "size");
  }
  return { chosen: [...chosen.values()], kept: [...kept.values()], liveBytes, bytesAfter };
}

/** Background work first, then the longest not spoken to; the key decides between equals. */
function inOrder(a: RetentionFact, b: RetentionFact): number {
  if (a.background !== b.background) return a.background ? -1 : 1;
  return a.lastAtMs - b.lastAtMs || (a.key < b.key ? -1 : 1);
}

/** The oldest of background work, as many as there are too many rows of it. */
function surplus(ordered: readonly RetentionFact[], max: number | null): readonly RetentionFact[] {
  const background = ordered.filter((fact) => fact.background);
  return max === null ? [] : background.slice(0, Math.max(0, background.length - max));
}

function isOld({ lastAtMs }: RetentionFact, maxAgeMs: number | null, nowMs: number): boolean {
  return maxAgeMs !== null && nowMs - lastAtMs > maxAgeMs;
}

/** When a person last spoke, as well as the row knows; old rows know only when they were written. */
export function lastSpokenMs(row: SessionRow, otherwise: number): number {
  const times = [row.lastInteractionAt, row.updatedAt, row.sessionStartedAt];
  return times.find((time): time is number => typeof time === "number" && Number.isFinite(time)) ?? otherwise;
}

/** Work that no person began: schedules, subagents, helpers that were spawned. */
export function isBackground(key: string, row: SessionRow): boolean {
  const { kind } = parseSessionKey(key).place;
  return kind === "cron" || kind === "subagent" || typeof row.spawnedBy === "string";
}
