/**
 * The one act that destroys what people said: a conversation with all that is kept of it, because something in it must not stay.
 *
 * Order: ended like any other (so nobody writes to it) → a tombstone, which says that there was one → each transcript → the
 * index anew, without the row. Killed in between, doing it again does the rest: transcripts name their key.
 * Invariants: a dry run writes nothing; what is worked on is left as it was; what cannot be reached is named.
 */
import { isObject } from "@holdfast/base";
import { archivedFile, liveFile } from "../archive-name.ts";
import { isCustom } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { parseSessionKey } from "../key.ts";
import { entriesForward } from "../scan.ts";
import type { LogRef, StoredLog } from "../store.ts";
import { aboutEntry } from "./about.ts";
import { aboutSource } from "./adopt.ts";
import { archivedSource } from "./archived-source.ts";
import { type KeptWhy, putAway } from "./put-away.ts";
import { clearRow, type KeepingParts, leavingOf } from "./rows.ts";

export interface Purge {
  readonly key: string;
  readonly dryRun: boolean;
  /** Why nothing was done; null: it was, or would be. */
  readonly kept: KeptWhy | null;
  /** Transcripts that were destroyed, or would be. */
  readonly destroyed: readonly { readonly file: string; readonly bytes: number }[];
  /** Keys of the actions that were begun in them: their folders are the caller's to empty. */
  readonly actions: readonly string[];
  /** The file that says that there was something. */
  readonly tombstone: string | null;
  /** Whether the index holds nothing of it any more. */
  readonly scrubbed: boolean;
}

/** Throws `session_missing` when nothing of this key is kept. */
export async function purge(parts: KeepingParts, key: string, dryRun: boolean): Promise<Purge> {
  parseSessionKey(key);
  const { store } = parts;
  const row = await store.get(key);
  const ids = new Set(row === undefined ? [] : [row.sessionId, ...leavingOf(row).map(({ id }) => id)]);
  const before = await belonging(parts, key, ids);
  if (row === undefined && before.length === 0) throw new SessionError("session_missing", { key });
  const actions = await actionsIn(parts, before);
  const done = { key, dryRun, actions, destroyed: before.map(({ log, bytes }) => ({ file: log.file, bytes })) };
  if (dryRun) return { ...done, kept: null, tombstone: null, scrubbed: false };
  const cleared = row === undefined ? undefined : await clearRow(parts, key, row);
  if (cleared?.kind === "kept" && cleared.why !== "missing") {
    return { ...done, kept: cleared.why, destroyed: [], actions: [], tombstone: null, scrubbed: false };
  }
  // Live ones that no row names.
  for (const { log, archived } of await belonging(parts, key, ids)) {
    if (archived === null) await putAway(parts, log, { reason: "clear", endOpen: true });
  }
  const logs = (await belonging(parts, key, ids)).filter(({ archived }) => archived !== null);
  const tombstone = await buried(parts, key, row?.sessionId ?? logs[0]?.log.id);
  for (const { log } of logs) await store.discard(log, { id: log.id, file: liveFile(log.id) });
  return { ...done, kept: null, tombstone, scrubbed: await store.scrub() };
}

/** All transcripts of the key: of these ids, or naming it. Not those that only say that there was something. */
async function belonging(
  { store }: KeepingParts,
  key: string,
  ids: ReadonlySet<string>,
): Promise<readonly StoredLog[]> {
  const found: StoredLog[] = [];
  for (const stored of await store.logs()) {
    if (stored.archived?.reason === "purge") continue;
    const isOfId = ids.has(stored.log.id);
    if (isOfId || (await keyIn(store, stored.log)) === key) found.push(stored);
  }
  return found;
}

async function keyIn(store: KeepingParts["store"], log: LogRef): Promise<string | undefined> {
  const opened = await archivedSource(store, log);
  if (opened === undefined) return undefined;
  await using now = opened;
  return (await aboutSource(now.source)).key;
}

async function actionsIn({ store }: KeepingParts, logs: readonly StoredLog[]): Promise<readonly string[]> {
  const keys = new Set<string>();
  for (const { log } of logs) {
    const opened = await archivedSource(store, log);
    if (opened === undefined) continue;
    await using now = opened;
    for await (const entry of entriesForward(now.source)) {
      const data = isCustom(entry, "holdfast:intent") ? entry.data : undefined;
      if (isObject(data) && typeof data.key === "string") keys.add(data.key);
    }
  }
  return [...keys];
}

/** A transcript in the archive that says no more than that there was one, and when it was destroyed. */
async function buried(
  { store, world, cwd }: KeepingParts,
  key: string,
  id: string | undefined,
): Promise<string | null> {
  if (id === undefined) return null;
  const nowMs = world.nowMs();
  const timestamp = new Date(nowMs).toISOString();
  const log: LogRef = { id, file: liveFile(id) };
  const about = aboutEntry(key, { agentId: parseSessionKey(key).agentId }, timestamp);
  const closed = { type: "custom", customType: "holdfast:closed", data: { reason: "purge" } };
  const last = { ...closed, id: world.newId("entry"), parentId: about.id, timestamp };
  await store.create(log, { type: "session", version: 3, id, timestamp, cwd }, [{ ...about }, last]);
  const reading = await store.read(log);
  if (reading === undefined) return null;
  await using now = reading;
  const file = archivedFile({ id, reason: "purge", atMs: nowMs });
  const moved = await store.archive(log, { id, file }, now.position);
  return moved === "archived" ? file : null;
}
