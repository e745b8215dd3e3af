/**
 * The one part of retention that destroys: archived transcripts of background work, long after they were put away.
 *
 * Invariants: what a person took part in is never destroyed here, nor what does not say whose it was, nor what is pinned,
 * worked on, or still open; the row goes first, so that no row ever points to what is gone.
 */
import { liveFile, parseArchived } from "../archive-name.ts";
import { isSessionKey } from "../key.ts";
import type { LogRef, SessionStore, StoredLog } from "../store.ts";
import type { ListedSession } from "../types.ts";
import { aboutSource } from "./adopt.ts";
import { archivedSource } from "./archived-source.ts";
import { stateOf } from "./marks.ts";
import { whyKept } from "./put-away.ts";
import { isBackground } from "./retention.ts";
import { change, type KeepingParts } from "./rows.ts";

export interface Expired {
  readonly file: string;
  readonly key: string;
  readonly bytes: number;
}

export interface Expiry {
  readonly deleted: readonly Expired[];
  /** Was due, and had to stay. */
  readonly kept: readonly { readonly key: string; readonly sessionId: string; readonly why: string }[];
}

/** `maxAgeMs` counts from when it was put away; null: nothing is due. */
export async function expireArchives(
  parts: KeepingParts,
  maxAgeMs: number | null,
  { dryRun, isOver }: { readonly dryRun: boolean; readonly isOver: () => boolean },
): Promise<Expiry> {
  const deleted: Expired[] = [];
  const kept: Expiry["kept"][number][] = [];
  if (maxAgeMs === null) return { deleted, kept };
  const before = parts.world.nowMs() - maxAgeMs;
  const rows = new Map((await parts.store.list()).map((one) => [one.row.sessionId, one]));
  for (const stored of await parts.store.logs()) {
    if (isOver()) break;
    if (stored.archived === null || stored.archived.reason === "purge" || stored.archived.atMs >= before) continue;
    const { log, bytes } = stored;
    const owner = rows.get(log.id);
    const looked = await lookAt(parts.store, stored, owner);
    if (looked === undefined) continue;
    const { key, why } = looked;
    if (why !== undefined) kept.push({ key, sessionId: log.id, why });
    else if (dryRun || (await destroy(parts, log, owner))) deleted.push({ file: log.file, key, bytes });
  }
  return { deleted, kept };
}

/** Undefined: not for us to destroy. `why`: it would be, but must stay. */
async function lookAt(
  store: SessionStore,
  { log, leased }: StoredLog,
  owner: ListedSession | undefined,
): Promise<{ readonly key: string; readonly why: string | undefined } | undefined> {
  // A row that is not archived may come to want it back.
  if (owner !== undefined && parseArchived(owner.row.sessionFile) === undefined) return undefined;
  const opened = await archivedSource(store, log);
  if (opened === undefined) return undefined;
  await using now = opened;
  const key = owner?.key ?? (await aboutSource(now.source)).key;
  if (key === undefined || !isSessionKey(key)) return undefined;
  const row = owner?.row ?? { sessionId: log.id, sessionFile: log.file };
  if (!isBackground(key, row)) return undefined;
  const why = row.pinned === true ? "pinned" : leased ? "running" : whyKept(await stateOf(now.source));
  return { key, why };
}

async function destroy(parts: KeepingParts, log: LogRef, owner: ListedSession | undefined): Promise<boolean> {
  if (owner !== undefined) {
    // Somebody may have woken it since.
    const row = await change(parts, owner.key, log.id, (now) =>
      parseArchived(now.sessionFile) === undefined ? now : null,
    );
    if (row?.sessionId === log.id) return false;
    parts.forget(owner.key);
  }
  return parts.store.discard(log, { id: log.id, file: liveFile(log.id) });
}
