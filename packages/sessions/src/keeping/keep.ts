/**
 * Keeping: what is done with whole conversations. Each act says what it did, or why it left everything as it was.
 *
 * Invariant: after a kill at any moment an act has either not begun for the reader (the old row, the old transcript), or it
 * is finished by the next `open` of the key or the next `cleanup`; no line of a transcript is lost on the way.
 */
import { liveFile, parseArchived } from "../archive-name.ts";
import { afterReset, type ResetReason } from "../carry-over.ts";
import { SessionError } from "../errors.ts";
import { copyOf, type ForkPoint, planFork } from "../fork.ts";
import { parseSessionKey } from "../key.ts";
import type { LogRef, Reading } from "../store.ts";
import type { ListedSession, SessionRow } from "../types.ts";
import { adopt, placeOf, taken } from "./adopt.ts";
import { bringBack, settle } from "./bring-back.ts";
import { type CleanupOptions, type CleanupReport, cleanUp } from "./cleanup.ts";
import type { PutAway } from "./put-away.ts";
import { type Purge, purge } from "./purge.ts";
import type { RetentionPolicy } from "./retention.ts";
import { archiveRow, clearRow, type KeepingParts, leavingOf, logOf, putAwayLeft } from "./rows.ts";

export interface Forked {
  readonly row: SessionRow;
  /** The entry of the original that the copy ends with; null: nothing was said yet. */
  readonly from: string | null;
  /** Calls that were open there and are closed in the copy. */
  readonly closedCalls: number;
}

export interface Reset {
  readonly row: SessionRow;
  /** What became of the transcript before. */
  readonly before: PutAway;
}

/** All throw `session_missing` for a key without a row, and what the store throws. */
export interface Keeping {
  /**
   * A new conversation under `to` that begins with the path of `from` up to a point. Throws `session_exists`,
   * `entry_missing`, `bad_key`.
   */
  fork(from: string, to: string, point?: ForkPoint): Promise<Forked>;
  /** The key goes on with a new conversation; the old transcript is put away when nothing of it is open any more. */
  reset(key: string, reason?: ResetReason): Promise<Reset>;
  /** Puts a conversation away until it is spoken to again. */
  archive(key: string): Promise<PutAway>;
  /** Ends a conversation: its transcript goes into the archive, its row goes. What was open is ended, on record. */
  clear(key: string): Promise<PutAway>;
  /**
   * Gets a conversation back: by its key, or by the id of a transcript that no row names (ended, or copied in). `as`: under
   * this key instead of the one the transcript names. Throws `session_exists`, `key_unknown`.
   */
  restore(name: string, as?: string): Promise<ListedSession>;
  /**
   * Destroys a conversation with all transcripts of its key, also ended ones, and leaves a tombstone. Nothing else here
   * destroys what people said. Throws `session_missing` when nothing of it is kept.
   */
  purge(key: string, options?: { readonly dryRun?: boolean }): Promise<Purge>;
  /** Retention now, and whatever a crash left to do. */
  cleanup(policy: RetentionPolicy, options?: CleanupOptions): Promise<CleanupReport>;
}

export function keepingOver(parts: KeepingParts): Keeping {
  return {
    fork: (from, to, point = {}) => fork(parts, { from, to }, point),
    reset: (key, reason = "reset") => reset(parts, key, reason),
    archive: async (key) => archiveRow(parts, key, await rowOf(parts, key), "archive"),
    clear: async (key) => clearRow(parts, key, await rowOf(parts, key)),
    restore: (name, as) => restore(parts, name, as),
    purge: (key, { dryRun = false } = {}) => purge(parts, key, dryRun),
    cleanup: (policy, options = {}) => cleanUp(parts, policy, options),
  };
}

async function rowOf({ store }: KeepingParts, key: string): Promise<SessionRow> {
  parseSessionKey(key);
  const row = await store.get(key);
  if (row === undefined) throw new SessionError("session_missing", { key });
  return row;
}

async function fork(
  parts: KeepingParts,
  { from, to }: { readonly from: string; readonly to: string },
  point: ForkPoint,
): Promise<Forked> {
  const { store, world, cwd } = parts;
  const { agentId } = parseSessionKey(to);
  const original = await rowOf(parts, from);
  const there = await store.get(to);
  if (there !== undefined) throw taken(to, there);
  const { log, reading } = await readingOf(parts, from, original);
  await using now = reading;
  const plan = await planFork(now.source, log.id, point);
  const [id, nowMs] = [world.newId("session"), world.nowMs()];
  const timestamp = new Date(nowMs).toISOString();
  const forkedFrom = { sessionId: log.id, entryId: plan.from };
  const newId = (): string => world.newId("entry");
  const data = { key: to, agentId, ...placeOf(original), origin: forkedFrom };
  const about = { type: "custom", customType: "holdfast:session", data, id: newId(), parentId: null, timestamp };
  const parentSession = store.pathOf(log) ?? log.id;
  const header = { type: "session", version: 3, id, timestamp, cwd, parentSession } as const;
  // The file first, under an id that nobody knows: until the row is written there is no fork.
  await store.create(
    { id, file: liveFile(id) },
    header,
    copyOf(now.source, plan, { about, session: log.id, nowMs, newId }),
  );
  const times = { sessionStartedAt: nowMs, lastInteractionAt: nowMs, updatedAt: nowMs };
  // As for any new row, who opens it first makes sure that it is durable: we may be refused that, or killed.
  const place = { sessionId: id, sessionFile: liveFile(id), state: "opening", ...placeOf(original) } as const;
  const row: SessionRow = { ...place, ...times, forkedFrom };
  const written = await store.update(to, (other) => other ?? row);
  if (written?.sessionId !== id) throw taken(to, written);
  return { row: written, from: plan.from, closedCalls: plan.openCalls.length };
}

/** An archived original comes back to be read: a packed one cannot be. */
async function readingOf(
  parts: KeepingParts,
  key: string,
  row: SessionRow,
): Promise<{ readonly log: LogRef; readonly reading: Reading }> {
  const back = parseArchived(row.sessionFile) === undefined ? undefined : await bringBack(parts, key, row);
  const log = logOf(back?.kind === "ready" ? back.row : row);
  const reading = await parts.store.read(log);
  if (reading === undefined) throw new SessionError("session_missing", { key });
  return { log, reading };
}

async function reset(parts: KeepingParts, key: string, reason: ResetReason): Promise<Reset> {
  const { store, world } = parts;
  const old = await rowOf(parts, key);
  const sessionId = world.newId("session");
  const next = { sessionId, sessionFile: liveFile(sessionId), reason, nowMs: world.nowMs() };
  const row = await store.update(key, (now) => {
    if (now?.sessionId !== old.sessionId) return now;
    return { ...afterReset(now, next), leaving: [...leavingOf(now), logOf(now)] };
  });
  if (row === undefined) throw new SessionError("session_missing", { key });
  parts.forget(key);
  const outcomes = await putAwayLeft(parts, key, row);
  return { row: await rowOf(parts, key), before: outcomes.at(-1) ?? { kind: "kept", why: "missing" } };
}

async function restore(parts: KeepingParts, name: string, as: string | undefined): Promise<ListedSession> {
  const row = await parts.store.get(name);
  if (row === undefined) return adopt(parts, name, as);
  const isArchived = parseArchived(row.sessionFile) !== undefined;
  const back = await (isArchived ? bringBack(parts, name, row) : settle(parts, name, row));
  if (back.kind !== "ready") throw new SessionError("session_missing", { key: name });
  parts.forget(name);
  return { key: name, row: back.row };
}
