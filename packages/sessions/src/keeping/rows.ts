/**
 * Putting away the transcripts that rows stand for, and saying so in the rows.
 * Invariant: the row is the last to change, except in a reset, where it is the first; `leaving` names there what still has
 * to be put away.
 */
import { isObject } from "@holdfast/base";
import { comesBack, liveFile, parseArchived } from "../archive-name.ts";
import type { LogRef } from "../store.ts";
import type { SessionRow } from "../types.ts";
import { type KeepingTools, moveBack, type PutAway, putAway } from "./put-away.ts";

/** What keeping needs of the sessions it belongs to. */
export interface KeepingParts extends KeepingTools {
  /** Working directory that new transcripts name. */
  readonly cwd: string;
  /** From now on the key is looked up again: an object that is open stays with its old log. */
  forget(key: string): void;
}

export function logOf(row: SessionRow): LogRef {
  return { id: row.sessionId, file: row.sessionFile };
}

/** Logs that a reset left behind and that were not put away yet. */
export function leavingOf(row: SessionRow): readonly LogRef[] {
  const { leaving } = row;
  if (!Array.isArray(leaving)) return [];
  return leaving.flatMap((one: unknown) =>
    isObject(one) && typeof one.id === "string" && typeof one.file === "string" ? [{ id: one.id, file: one.file }] : [],
  );
}

/** Into the archive, and back at the next message. Done before, it is done again without effect. */
export async function archiveRow(
  parts: KeepingParts,
  key: string,
  row: SessionRow,
  reason: "archive" | "retention",
): Promise<PutAway> {
  if (parseArchived(row.sessionFile) !== undefined) return { kind: "archived", file: row.sessionFile };
  await noteBegun(parts, key, row);
  const outcome = await putAway(parts, logOf(row), { reason });
  if (outcome.kind === "kept") return outcome;
  const back = comesBack(parseArchived(outcome.file)?.reason ?? "");
  const archivedAt = parts.world.nowMs();
  await change(parts, key, row.sessionId, (now) => (back ? { ...now, sessionFile: outcome.file, archivedAt } : null));
  parts.forget(key);
  await pack(parts, { id: row.sessionId, file: outcome.file });
  return outcome;
}

/** Ended by a person: the transcript into the archive, the row away. What was open is ended, on record. */
export async function clearRow(parts: KeepingParts, key: string, row: SessionRow): Promise<PutAway> {
  const log = await liveAgain(parts, logOf(row));
  for (const left of leavingOf(row)) await putAway(parts, left, { reason: "reset", endOpen: true });
  await noteBegun(parts, key, row);
  const outcome = await putAway(parts, log, { reason: "clear", endOpen: true });
  if (outcome.kind === "kept" && outcome.why !== "missing") return outcome;
  await change(parts, key, row.sessionId, () => null);
  parts.forget(key);
  if (outcome.kind === "archived") await pack(parts, { id: row.sessionId, file: outcome.file });
  return outcome;
}

/** Puts away what a reset left behind, unless something of it is still open; then it is tried again at the next cleanup. */
export async function putAwayLeft(parts: KeepingParts, key: string, row: SessionRow): Promise<readonly PutAway[]> {
  const outcomes: PutAway[] = [];
  for (const left of leavingOf(row)) {
    const log = await liveAgain(parts, left);
    const outcome = await putAway(parts, log, { reason: "reset", successor: row.sessionId });
    outcomes.push(outcome);
    if (outcome.kind === "kept" && outcome.why !== "missing") continue;
    await change(parts, key, row.sessionId, (now) => withoutLeaving(now, log.id));
    if (outcome.kind === "archived") await pack(parts, { id: log.id, file: outcome.file });
  }
  return outcomes;
}

/** A row in state `opening` without a file is new; this one has had its file, wherever a crash leaves it. */
async function noteBegun(tools: KeepingTools, key: string, row: SessionRow): Promise<void> {
  if (row.state === "opening") await change(tools, key, row.sessionId, ({ state: _state, ...rest }) => rest);
}

/** An archived log under its live name, so that it can be closed for another reason; one that is nowhere: that name. */
async function liveAgain({ store }: KeepingTools, log: LogRef): Promise<LogRef> {
  if (parseArchived(log.file) === undefined) return log;
  const moved = await moveBack(store, log);
  return moved === "missing" ? { id: log.id, file: liveFile(log.id) } : moved;
}

function withoutLeaving(row: SessionRow, id: string): SessionRow {
  const { leaving: _leaving, ...rest } = row;
  const left = leavingOf(row).filter((log) => log.id !== id);
  return left.length === 0 ? rest : { ...rest, leaving: left };
}

export async function pack({ store }: KeepingTools, archived: LogRef): Promise<boolean> {
  return store.pack(archived, { id: archived.id, file: liveFile(archived.id) });
}

/** Changes the row while it still stands for this session. */
export async function change(
  { store }: KeepingTools,
  key: string,
  sessionId: string,
  next: (row: SessionRow) => SessionRow | null,
): Promise<SessionRow | undefined> {
  return store.update(key, (row) => (row?.sessionId === sessionId ? next(row) : row));
}
