/**
 * Retention in a running gateway: at its start, once it answers, and every hour.
 * Invariant: what a message waits for stays; a round that fails is told in the log and stops nothing.
 */
import { messageOf, type World } from "@holdfast/base";
import { type CleanupReport, type Keeping, keepTidy, RETENTION } from "@holdfast/sessions";
import type { Config } from "./config/schema.ts";
import type { LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";

const EVERY_MS = 3_600_000;

interface Owner {
  readonly id: string;
  readonly sessions: { readonly keep: Pick<Keeping, "cleanup"> };
}

export interface RetentionParts {
  readonly agents: ReadonlyMap<string, Owner>;
  readonly store: Pick<LaneStore, "list">;
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
}

/** Begins at once, in the background. Disposal waits for the round that runs: do it before the sessions close. */
export function keepAgentsTidy({ agents, store, config, world, log }: RetentionParts): AsyncDisposable {
  const { maxAge, maxSize, mode } = config.sessions.retention;
  const policy = { ...RETENTION, maxAgeMs: maxAge, maxBytes: maxSize };
  const isAwaited = async (queue: string): Promise<boolean> =>
    (await store.list({ lane: "main", queue, states: ["queued", "claimed", "waiting"], limit: 1 })).length > 0;
  const rounds = [...agents.values()].map(({ id, sessions }) =>
    keepTidy(sessions, world, {
      policy,
      everyMs: EVERY_MS,
      dryRun: mode === "report",
      isAwaited,
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
  const { dryRun, archived, cleared, kept, orphans, finished, packed, liveBytes, bytesAfter } = report;
  const counts = {
    archived: archived.length,
    cleared: cleared.length,
    kept: kept.length,
    orphans: orphans.length,
    finished: finished.length,
    packed,
  };
  if (Object.values(counts).every((count) => count === 0)) return;
  log.info(dryRun ? "retention would put away" : "retention", { agent, ...counts, liveBytes, bytesAfter });
}
