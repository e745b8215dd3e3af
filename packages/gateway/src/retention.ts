/**
 * Retention: in a running gateway at its start, once it answers, and every hour; and whenever somebody asks for it.
 * Invariant: one policy, whoever asks; what a message waits for stays; a round that fails is told in the log and stops nothing.
 */
import { messageOf, type World } from "@holdfast/base";
import {
  type CleanupOptions,
  type CleanupReport,
  type Keeping,
  keepTidy,
  RETENTION,
  type RetentionPolicy,
} from "@holdfast/sessions";
import type { Config } from "./config/schema.ts";
import type { LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";

const EVERY_MS = 3_600_000;

interface Owner {
  readonly id: string;
  readonly sessions: { readonly keep: Pick<Keeping, "cleanup"> };
}

type Settings = Config["sessions"]["retention"];

/** What the settings of retention come to. */
export function retentionPolicy({ maxAge, maxSize, mode }: Settings): RetentionPolicy {
  const archiveMaxAgeMs = mode === "delete-archives" ? maxAge : null;
  return { ...RETENTION, maxAgeMs: maxAge, maxBytes: maxSize, archiveMaxAgeMs };
}

/** What retention did in the conversations of one agent. */
export type AgentCleanup = CleanupReport & { readonly agentId: string };

export interface CleanupRequest {
  /** Null: all. */
  readonly agentId: string | null;
  readonly dryRun: boolean;
  readonly signal?: AbortSignal;
}

/** Retention now. `store`: the lanes; null: there are none, so nothing waits. */
export async function cleanUpAgents(
  agents: Iterable<Owner>,
  { store, retention }: { readonly store: Pick<LaneStore, "list"> | null; readonly retention: Settings },
  { agentId, dryRun, signal }: CleanupRequest,
): Promise<readonly AgentCleanup[]> {
  const policy = retentionPolicy(retention);
  const waiting = store === null ? {} : { isAwaited: awaitedIn(store) };
  const ending = signal === undefined ? {} : { signal };
  const options: CleanupOptions = { dryRun: dryRun || retention.mode === "report", ...waiting, ...ending };
  const reports: AgentCleanup[] = [];
  for (const { id, sessions } of agents) {
    if (agentId !== null && id !== agentId) continue;
    reports.push({ agentId: id, ...(await sessions.keep.cleanup(policy, options)) });
  }
  return reports;
}

function awaitedIn(store: Pick<LaneStore, "list">): (queue: string) => Promise<boolean> {
  return async (queue) =>
    (await store.list({ lane: "main", queue, states: ["queued", "claimed", "waiting"], limit: 1 })).length > 0;
}

export interface RetentionParts {
  readonly agents: ReadonlyMap<string, Owner>;
  readonly store: Pick<LaneStore, "list">;
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
}

/** Begins at once, in the background. Disposal ends the round that runs and waits for it: do it before the sessions close. */
export function keepAgentsTidy({ agents, store, config, world, log }: RetentionParts): AsyncDisposable {
  const { retention } = config.sessions;
  const rounds = [...agents.values()].map(({ id, sessions }) =>
    keepTidy(sessions, world, {
      policy: retentionPolicy(retention),
      everyMs: EVERY_MS,
      dryRun: retention.mode === "report",
      isAwaited: awaitedIn(store),
      onReport: (report) => tell(log, id, report),
      onError: (error) => log.warn("retention failed; it is tried again", { agent: id, why: messageOf(error) }),
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(rounds.map((round) => round[Symbol.asyncDispose]()));
    },
  };
}

/** One line, and only when there is something to say. */
function tell(log: Log, agent: string, report: CleanupReport): void {
  const { dryRun, archived, cleared, kept, orphans, finished, packed, deleted, liveBytes, bytesAfter } = report;
  const counts = {
    archived: archived.length,
    cleared: cleared.length,
    kept: kept.length,
    orphans: orphans.length,
    finished: finished.length,
    packed,
    deleted: deleted.length,
  };
  if (Object.values(counts).every((count) => count === 0)) return;
  log.info(dryRun ? "retention would put away" : "retention", { agent, ...counts, liveBytes, bytesAfter });
}
