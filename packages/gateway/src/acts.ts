/**
 * What people do with whole conversations, over the sessions of one agent: used by HTTP, and by a command that has the home
 * to itself, so that both say and do the same.
 * Invariant: no act begins a conversation that is not there, and none reaches into another agent's.
 */
import { effectsLeft } from "@holdfast/agent";
import {
  labelEntry,
  parseSessionKey,
  renameSession,
  type Session,
  SessionError,
  type Sessions,
} from "@holdfast/sessions";
import { purgeAll } from "./purge.ts";
import type { World } from "@holdfast/base";
import { GatewayError } from "./errors.ts";
import type { ConversationActs } from "./wire/acts.ts";

export interface ActsPlace {
  /** The home directory. */
  readonly home: string;
  readonly world: World;
}

/** Throws `session_missing` for a key without a row, and what the sessions throw. */
export function actsOn(sessions: Sessions, { home, world }: ActsPlace): ConversationActs {
  const { keep } = sessions;
  return {
    branch: (key, entryId) =>
      opened(sessions, key, async (session) => {
        const left = await effectsLeft(session, entryId);
        const { durable } = await session.branch(entryId);
        return { key, leaf: session.leaf(), from: entryId, left, durable };
      }),
    async fork(key, to, point) {
      checkSameAgent(key, to);
      const { row, from: entryId, closedCalls } = await keep.fork(key, to, point);
      return { key: to, from: key, sessionId: row.sessionId, entryId, closedCalls };
    },
    label: (key, entryId, label) =>
      opened(sessions, key, async (session) => {
        const { durable } = await labelEntry(session, entryId, label);
        return { key, entryId, label: orNull(label), durable };
      }),
    rename: (key, name) =>
      opened(sessions, key, async (session) => {
        const { durable } = await renameSession(session, name);
        await sessions.update(key, { label: orNull(name) ?? undefined });
        return { key, name: orNull(name), durable };
      }),
    async reset(key) {
      const { row, before } = await keep.reset(key, "reset");
      return { key, sessionId: row.sessionId, before };
    },
    archive: async (key) => ({ key, ...(await keep.archive(key)) }),
    async clear(key) {
      const sessionId = (await sessions.get(key))?.sessionId;
      if (sessionId === undefined) throw new SessionError("session_missing", { key });
      return { key, sessionId, ...(await keep.clear(key)) };
    },
    async restore(name, as) {
      const { key, row } = await keep.restore(name, as);
      return { key, sessionId: row.sessionId };
    },
    purge: (key, dryRun) => purgeAll(sessions, { key, dryRun, home, world }),
  };
}

async function opened<T>(sessions: Sessions, key: string, work: (session: Session) => Promise<T>): Promise<T> {
  if ((await sessions.get(key)) === undefined) throw new SessionError("session_missing", { key });
  await using session = await sessions.open(key);
  return await work(session);
}

/** Walls between agents: a copy stays with the agent whose conversation it is. */
function checkSameAgent(key: string, to: string): void {
  const [from, other] = [parseSessionKey(key).agentId, parseSessionKey(to).agentId];
  if (from !== other) throw new GatewayError("bad_request", { why: `${to} belongs to another agent than ${key}` });
}

function orNull(text: string): string | null {
  return text.trim() === "" ? null : text;
}
