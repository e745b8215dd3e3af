/**
 * Gives a transcript that no row names its row: one that was ended and is wanted again, or that was copied in.
 * Invariant: a key that has another conversation keeps it, and the transcript is left where it was.
 */
import { isObject } from "@holdfast/base";
import { liveFile } from "../archive-name.ts";
import { isCustom } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { isSessionKey } from "../key.ts";
import { readHeader } from "../reading/header.ts";
import type { ByteSource } from "../reading/source.ts";
import { entriesForward } from "../scan.ts";
import type { LogRef, SessionStore, StoredLog } from "../store.ts";
import type { ListedSession, SessionRow } from "../types.ts";
import { newestArchived, reopen } from "./put-away.ts";
import type { KeepingParts } from "./rows.ts";

/** What a transcript says of itself. */
export interface About {
  /** Undefined: it does not say. */
  readonly key: string | undefined;
  readonly fields: Pick<SessionRow, "channel" | "chatType" | "sessionStartedAt">;
}

/** It stands at the beginning; a transcript of another program is not read to its end for it. */
const ENTRIES_LOOKED_AT = 50;

/** Undefined: there is no such log. */
export async function aboutLog(store: SessionStore, log: LogRef): Promise<About | undefined> {
  const reading = await store.read(log);
  if (reading === undefined) return undefined;
  await using now = reading;
  return await aboutSource(now.source);
}

export async function aboutSource(source: ByteSource): Promise<About> {
  const began = Date.parse(String((await readHeader(source)).header?.timestamp));
  const fields = Number.isFinite(began) ? { sessionStartedAt: began } : {};
  let looked = 0;
  for await (const entry of entriesForward(source)) {
    const data = isCustom(entry, "holdfast:session") ? entry.data : undefined;
    if (isObject(data) && isSessionKey(data.key)) return { key: data.key, fields: { ...fields, ...placeOf(data) } };
    looked += 1;
    if (looked >= ENTRIES_LOOKED_AT) break;
  }
  return { key: undefined, fields };
}

/** Where a conversation takes place, as its row or its transcript says. */
export function placeOf(data: Readonly<Record<string, unknown>>): Pick<SessionRow, "channel" | "chatType"> {
  const { channel, chatType } = data;
  return {
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof chatType === "string" ? { chatType } : {}),
  };
}

/** `as`: the key to adopt it under, instead of the one it names. Throws `session_missing`, `session_exists`, `key_unknown`. */
export async function adopt(parts: KeepingParts, id: string, as: string | undefined): Promise<ListedSession> {
  const { store, world } = parts;
  const found = await stored(store, id);
  const log: LogRef = { id, file: found.archived === null ? found.log.file : liveFile(id) };
  // Also beside a live one: what was interrupted on its way back comes to its end.
  const away = found.archived === null ? await newestArchived(store, id) : found;
  if (away !== undefined) await store.restore(away.log, log);
  const about = await aboutLog(store, log);
  const key = as ?? about?.key;
  const refusal = await whyNot(store, key, log);
  if (key === undefined || refusal !== undefined) {
    await leaveAsItWas(store, found, log);
    throw refusal ?? new SessionError("session_missing", { key: id });
  }
  const opened = await reopen(parts, log);
  if (opened !== "open") throw new SessionError("gone", { path: log.file });
  const place = { sessionId: id, sessionFile: log.file, state: "opening", updatedAt: world.nowMs() } as const;
  const row: SessionRow = { ...place, ...about?.fields };
  const written = await store.update(key, (there) => there ?? row);
  if (written?.sessionId !== id) throw taken(key, written);
  return { key, row: written };
}

async function stored(store: SessionStore, id: string): Promise<StoredLog> {
  const live = (await store.logs()).find((one) => one.log.id === id && one.archived === null);
  const archived = live ?? (await newestArchived(store, id));
  const found = archived?.archived?.reason === "purge" ? undefined : archived;
  if (found === undefined) throw new SessionError("session_missing", { key: id });
  return found;
}

async function whyNot(store: SessionStore, key: string | undefined, log: LogRef): Promise<SessionError | undefined> {
  if (key === undefined) return new SessionError("key_unknown", { path: log.file, session: log.id });
  const row = await store.get(key);
  return row === undefined ? undefined : taken(key, row);
}

export function taken(key: string, row: SessionRow | undefined): SessionError {
  return new SessionError("session_exists", { key, session: row?.sessionId ?? "another" });
}

async function leaveAsItWas(store: SessionStore, found: StoredLog, log: LogRef): Promise<void> {
  const reading = found.archived === null ? undefined : await store.read(log);
  if (reading === undefined) return;
  await using now = reading;
  await store.archive(log, found.log, now.position);
}
