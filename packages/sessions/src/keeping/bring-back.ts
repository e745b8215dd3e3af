/**
 * From a row to a log that can be opened: finishes what a crash left half done, and brings an archived conversation back.
 *
 * Invariant: a conversation that a person ended (reset, clear) never comes back by itself, any other always does, whichever
 * of log, mark and row was written last before the crash.
 */
import { comesBack, liveFile, parseArchived } from "../archive-name.ts";
import { SessionError } from "../errors.ts";
import type { LogRef } from "../store.ts";
import type { SessionRow } from "../types.ts";
import { standingOf } from "./look.ts";
import { endedBy, type KeepingTools, moveBack, newestArchived, putAway, reopen } from "./put-away.ts";

/** `ended`: the row is gone, the key is free. `lost`: there is no log anywhere. */
export type Back = { readonly kind: "ready"; readonly row: SessionRow } | { readonly kind: "ended" | "lost" };

/** For a row whose file is not a live one, or not there. */
export async function bringBack(tools: KeepingTools, key: string, row: SessionRow): Promise<Back> {
  const { store } = tools;
  const id = row.sessionId;
  const named = parseArchived(row.sessionFile);
  const live: LogRef = { id, file: named === undefined ? row.sessionFile : liveFile(id) };
  const direct = named === undefined ? "missing" : await moveBack(store, { id, file: row.sessionFile });
  if (direct === "missing" && !(await isLive(tools, live))) {
    const found = await newestArchived(store, id);
    if (found === undefined) return { kind: "lost" };
    if (!comesBack(found.archived?.reason ?? "")) return endedRow(tools, key, id);
    await moveBack(store, found.log);
  }
  return settle(tools, key, { ...row, sessionFile: live.file });
}

async function isLive({ store }: KeepingTools, log: LogRef): Promise<boolean> {
  const reading = await store.read(log);
  await reading?.[Symbol.asyncDispose]();
  return reading !== undefined;
}

/** For a row whose log is live: opens it again where it was closed and may be, ends it where a person ended it. */
export async function settle(tools: KeepingTools, key: string, row: SessionRow): Promise<Back> {
  const log: LogRef = { id: row.sessionId, file: row.sessionFile };
  const reading = await tools.store.read(log);
  if (reading === undefined) return { kind: "lost" };
  await using now = reading;
  const reason = endedBy(await standingOf(now.source));
  if (reason !== undefined) {
    await putAway(tools, log, { reason, endOpen: true });
    return endedRow(tools, key, log.id);
  }
  const opened = await reopen(tools, log);
  if (opened !== "open") throw new SessionError("gone", { path: log.file });
  return { kind: "ready", row: await rowInPlace(tools, key, log) };
}

async function endedRow({ store }: KeepingTools, key: string, id: string): Promise<Back> {
  await store.update(key, (row) => (row?.sessionId === id ? null : row));
  return { kind: "ended" };
}

/** The row says where the log is. When it was written last does not change: nothing was said. */
async function rowInPlace({ store }: KeepingTools, key: string, log: LogRef): Promise<SessionRow> {
  const row = await store.update(key, (now) => {
    if (now === undefined || now.sessionId !== log.id) return now;
    const { archivedAt, ...rest } = now;
    const isInPlace = now.sessionFile === log.file && archivedAt === undefined;
    return isInPlace ? now : { ...rest, sessionId: log.id, sessionFile: log.file };
  });
  if (row?.sessionId !== log.id) throw new SessionError("gone", { path: log.file });
  return row;
}
