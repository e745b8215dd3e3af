/** What a client sees when it comes: the sessions, and one conversation as it is now with the place where its events go on. */
import { type Entry, type Session, SessionError, type Sessions } from "@holdfast/sessions";
import { wireItem } from "./bodies.ts";
import type { LaneStore } from "./lanes.ts";
import type { Hub } from "./live/hub.ts";
import { light } from "./live/light.ts";
import type { WireItem, WireSession, WireSnapshot } from "./wire/index.ts";

/** Ended items that are still shown, beside all open ones. */
const ITEMS_SHOWN_MAX = 50;
const TRIES = 5;
export const ENTRIES_LIMIT = { default: 200, max: 1_000 } as const;

export interface SnapshotRequest {
  readonly key: string;
  /** Entries before this one; null: the newest. */
  readonly before: string | null;
  readonly limit: number;
}

export interface SnapshotOptions {
  readonly sessions: Sessions;
  readonly store: LaneStore;
  readonly hub: Hub;
}

/** A conversation that has not begun is empty, not missing: asking creates nothing. */
export async function snapshot(request: SnapshotRequest, options: SnapshotOptions): Promise<WireSnapshot> {
  const { sessions, hub } = options;
  if ((await sessions.get(request.key)) === undefined) {
    const cursor = hub.cursor(request.key);
    const items = await itemsOf(request.key, options.store);
    return { key: request.key, sessionId: null, leaf: null, entries: [], more: null, cursor, ...items };
  }
  await using session = await sessions.open(request.key);
  return request.before === null ? newest(request, session, options) : older(request, session, options);
}

/** Path, items and cursor of one moment: taken again when something happened meanwhile. */
async function newest(request: SnapshotRequest, session: Session, options: SnapshotOptions): Promise<WireSnapshot> {
  for (let attempt = 1; ; attempt++) {
    const cursor = options.hub.cursor(request.key);
    const items = await itemsOf(request.key, options.store);
    const shown = page(session.path(), request.limit);
    const moved = options.hub.cursor(request.key) !== cursor;
    if (moved && attempt < TRIES) continue;
    return { key: request.key, sessionId: session.id, leaf: session.leaf(), ...shown, ...items, cursor };
  }
}

async function older(request: SnapshotRequest, session: Session, options: SnapshotOptions): Promise<WireSnapshot> {
  const cursor = options.hub.cursor(request.key);
  const { before } = request;
  if (before !== null && (await session.entry(before)) === undefined) {
    throw new SessionError("entry_missing", { entry: before.slice(0, 100), session: session.id });
  }
  const path = await wholePath(session, before);
  const items = await itemsOf(request.key, options.store);
  return {
    key: request.key,
    sessionId: session.id,
    leaf: session.leaf(),
    ...page(path, request.limit),
    ...items,
    cursor,
  };
}

function page(
  path: readonly Entry[],
  limit: number,
): { readonly entries: readonly Entry[]; readonly more: string | null } {
  const entries = path.slice(-limit);
  const first = entries[0];
  return { entries: entries.map(light), more: first !== undefined && first.parentId !== null ? first.id : null };
}

/** The path that leads to an entry, without it, oldest first; reads back only as far as needed. */
async function wholePath(session: Session, before: string | null): Promise<readonly Entry[]> {
  const path: Entry[] = [];
  let wanted: string | null = before;
  for await (const entry of session.newestFirst()) {
    if (entry.id !== wanted) continue;
    if (entry.id !== before) path.unshift(entry);
    wanted = entry.parentId;
    if (wanted === null || path.length > ENTRIES_LIMIT.max) break;
  }
  return path;
}

async function itemsOf(
  key: string,
  store: LaneStore,
): Promise<{ readonly items: readonly WireItem[]; readonly running: boolean }> {
  const items = await store.list({ lane: "main", queue: key, limit: ITEMS_SHOWN_MAX });
  return { items: items.map(wireItem), running: items.some((item) => item.state === "claimed") };
}

/** Newest first. */
export async function listSessions(sessions: readonly Sessions[]): Promise<readonly WireSession[]> {
  const lists = await Promise.all(sessions.map((of) => of.list()));
  return lists
    .flat()
    .map(({ key, row }) => ({
      key,
      sessionId: row.sessionId,
      title: row.label ?? null,
      channel: row.channel ?? null,
      updatedAt: row.updatedAt ?? null,
      lastInteractionAt: row.lastInteractionAt ?? null,
      status: row.status ?? null,
    }))
    .sort((left, right) => (right.updatedAt ?? 0) - (left.updatedAt ?? 0));
}
