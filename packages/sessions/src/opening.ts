/**
 * From a key to its open session: the row, the transcript wherever it is, and the object over it.
 * Invariants: a key has one session id whoever asks, because the row is durable before its transcript exists; a
 * conversation that was put away comes back whole, one that was ended does not come back.
 */
import type { World } from "@holdfast/base";
import { liveFile, parseArchived } from "./archive-name.ts";
import type { Header } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { bringBack, settle } from "./keeping/bring-back.ts";
import { parseSessionKey } from "./key.ts";
import { type OpenedSession, openSession } from "./session.ts";
import type { LogRef, Reading, SessionStore, Unstamped } from "./store.ts";
import type { Fsync, SessionRow } from "./types.ts";

export interface SessionsParts {
  readonly store: SessionStore;
  readonly world: World;
  readonly fsync: Fsync;
  readonly cwd: string;
  /** The transcript of a row is not there any more: a new one is begun under the same id. */
  readonly onLost: (key: string, log: LogRef) => void;
}

export interface Origin {
  readonly channel?: string;
  readonly chatType?: string;
}

/** Others may put it away, end it or begin it anew while we look; so often is never. */
const ROUNDS_MAX = 20;

export async function openKey(
  parts: SessionsParts,
  key: string,
  origin: Origin,
  onClose: () => void,
): Promise<OpenedSession> {
  const { store, world, fsync } = parts;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const place = await placeToWrite(parts, key, origin).catch((error) => placeToRead(parts, key, error));
    if (place === undefined) continue;
    const { log } = place;
    const opened = await openSession({ key, ...place, store, world, fsync, onClose });
    if (!opened.isPutAway()) return opened;
    opened.end();
    await settle(parts, key, { sessionId: log.id, sessionFile: log.file });
  }
  throw new SessionError("lock_timeout", { path: key, holder: "others who put it away", timeoutMs: "any" });
}

interface PlaceOfLog {
  readonly log: LogRef;
  readonly found: "new" | "resumed";
  /** The log as it was found; whoever gets this closes it. */
  readonly reading?: Reading;
  /** What stood in the way of writing. */
  readonly refusal?: SessionError;
}

/**
 * A disk that takes no writes still shows what is on it. Each append is told what was wrong until the key is opened again:
 * what opening could not finish may not be durable, and nothing is acknowledged on top of that.
 */
async function placeToRead({ store }: SessionsParts, key: string, error: unknown): Promise<PlaceOfLog> {
  if (!(error instanceof SessionError && error.code === "write_failed")) throw error;
  const row = await store.get(key);
  if (row === undefined || parseArchived(row.sessionFile) !== undefined) throw error;
  const log: LogRef = { id: row.sessionId, file: row.sessionFile };
  const reading = await store.read(log);
  if (reading === undefined) throw error;
  return { log, found: "resumed", reading, refusal: error };
}

/** Where the log of a key is, begun if there is none; undefined: the conversation has just ended, ask again. */
async function placeToWrite(parts: SessionsParts, key: string, origin: Origin): Promise<PlaceOfLog | undefined> {
  const row = await rowOf(parts, key, origin);
  const log: LogRef = { id: row.sessionId, file: row.sessionFile };
  const isArchived = parseArchived(row.sessionFile) !== undefined;
  if (!isArchived && row.state === "opening") return finishOpening(parts, key, log, origin);
  const reading = isArchived ? undefined : await parts.store.read(log);
  if (reading !== undefined) return { log, found: "resumed", reading };
  const back = await bringBack(parts, key, row);
  if (back.kind === "ended") return undefined;
  if (back.kind === "ready") return { log: { id: log.id, file: back.row.sessionFile }, found: "resumed" };
  const place = await begun(parts, key, { id: log.id, file: isArchived ? liveFile(log.id) : log.file }, origin);
  if (place.found === "new") parts.onLost(key, log);
  return place;
}

/** Whoever opened it first may have been killed at any step: each is done again, which changes nothing that is done. */
async function finishOpening(parts: SessionsParts, key: string, log: LogRef, origin: Origin): Promise<PlaceOfLog> {
  const place = await begun(parts, key, log, origin);
  if (place.found === "resumed") {
    await parts.store.update(key, (row) => (row?.state === "opening" ? withoutState(row) : row));
  }
  return place;
}

function withoutState({ state: _state, ...row }: SessionRow): SessionRow {
  return row;
}

async function begun(parts: SessionsParts, key: string, log: LogRef, origin: Origin): Promise<PlaceOfLog> {
  const outcome = await parts.store.create(log, header(parts, log), [about(parts, key, origin)]);
  return { log, found: outcome === "created" ? "new" : "resumed" };
}

async function rowOf({ store, world }: SessionsParts, key: string, origin: Origin): Promise<SessionRow> {
  const there = await store.get(key);
  if (there !== undefined && there.state !== "opening") return there;
  const sessionId = world.newId("session");
  const nowMs = world.nowMs();
  const times = { sessionStartedAt: nowMs, updatedAt: nowMs };
  const fresh: SessionRow = { sessionId, sessionFile: liveFile(sessionId), ...times, state: "opening", ...origin };
  // Written again where it is there: whoever wrote it may have been killed, or refused, before it was durable.
  return (await store.update(key, (now) => (now === undefined ? fresh : { ...now }))) ?? fresh;
}

function header({ world, cwd }: SessionsParts, log: LogRef): Header {
  return { type: "session", version: 3, id: log.id, timestamp: new Date(world.nowMs()).toISOString(), cwd };
}

function about({ world }: SessionsParts, key: string, origin: Origin): Unstamped {
  const timestamp = new Date(world.nowMs()).toISOString();
  const data = { key, agentId: parseSessionKey(key).agentId, ...origin };
  return { type: "custom", customType: "holdfast:session", data, id: world.newId("entry"), parentId: null, timestamp };
}
