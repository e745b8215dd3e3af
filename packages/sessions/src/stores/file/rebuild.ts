/**
 * Makes index rows out of the transcripts, when snapshot, copy and journals are all lost: each transcript names its key.
 * Invariant: it only reads. Files that were closed by reset or clear give no row, one that a message would bring back from
 * the archive does; of several for one key the newest start wins.
 */
import { join } from "node:path";
import { isObject, LIMITS, messageOf, tryParse } from "@holdfast/base";
import { comesBack, parseArchived } from "../../archive-name.ts";
import { isSessionId } from "../../key.ts";
import type { SessionRow, SessionsProblem } from "../../types.ts";
import { isThere, packedPath } from "./archive.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { archivedNames, firstLines } from "./list-logs.ts";
import type { Rows } from "./snapshot.ts";

interface Found {
  readonly key: string;
  readonly row: SessionRow;
}

async function linesAt(file: DiskFile, offset: number): Promise<readonly Record<string, unknown>[]> {
  const buffer = Buffer.alloc(LIMITS.tailCompareBytes);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
  const values = buffer.toString("utf8", 0, bytesRead).split("\n").map(tryParse);
  return values.filter(isObject);
}

/** Put away for good: the last word about it is `closed` by reset, clear or purge. */
function wasClosed(lines: readonly Record<string, unknown>[]): boolean {
  const last = lines.findLast((line) => line.customType === "holdfast:closed" || line.customType === "holdfast:opened");
  if (last?.customType !== "holdfast:closed" || !isObject(last.data)) return false;
  return ["reset", "clear", "purge"].includes(String(last.data.reason));
}

async function rowFrom(disk: Disk, directory: string, name: string): Promise<Found | undefined> {
  const archived = parseArchived(name);
  const plain = join(directory, name);
  const path = archived === undefined || (await isThere(disk, plain)) ? plain : packedPath(plain);
  const first = await firstLines(disk, path);
  const about = first.find((line) => line.customType === "holdfast:session");
  if (about === undefined || !isObject(about.data) || typeof about.data.key !== "string") return undefined;
  if (archived === undefined && wasClosed(await lastLines(disk, path))) return undefined;
  const header = first.find((line) => line.type === "session");
  const named = archived?.id ?? name.slice(0, -".jsonl".length);
  const sessionId = typeof header?.id === "string" && isSessionId(header.id) ? header.id : named;
  if (!isSessionId(sessionId)) return undefined;
  const times = timesOf(header?.timestamp ?? about.timestamp, (await disk.stat(path)).mtimeNs);
  const put = archived === undefined ? {} : { archivedAt: archived.atMs };
  return { key: about.data.key, row: { sessionId, sessionFile: name, ...times, ...originOf(about.data), ...put } };
}

async function lastLines(disk: Disk, path: string): Promise<readonly Record<string, unknown>[]> {
  await using file = await disk.open(path, "read");
  const { size } = await file.stat({ bigint: true });
  return await linesAt(file, Math.max(0, Number(size) - LIMITS.tailCompareBytes));
}

function timesOf(began: unknown, changedNs: bigint): Pick<SessionRow, "sessionStartedAt" | "updatedAt"> {
  const startedAt = Date.parse(String(began));
  const updatedAt = Number(changedNs / 1_000_000n);
  return Number.isFinite(startedAt) ? { sessionStartedAt: startedAt, updatedAt } : { updatedAt };
}

function originOf(data: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const { channel, chatType } = data;
  return {
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof chatType === "string" ? { chatType } : {}),
  };
}

/** Live transcripts, and archived ones that still stand for their key. */
async function candidates(disk: Disk, directory: string): Promise<readonly string[]> {
  const live = (await disk.list(directory)).filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."));
  const archived = (await archivedNames(disk, directory)).map((name) => `archive/${name.replace(/\.gz$/, "")}`);
  const back = archived.filter((name) => comesBack(parseArchived(name)?.reason ?? ""));
  return [...live.sort(), ...new Set(back.sort())];
}

/** Rows for all transcripts of the directory that name their key, but for the files in `named`, which have their row. */
export async function rebuildRows(
  disk: Disk,
  directory: string,
  named: ReadonlySet<string> = new Set(),
): Promise<{ rows: Rows; problems: SessionsProblem[] }> {
  const rows: Rows = new Map();
  const problems: SessionsProblem[] = [];
  for (const name of await candidates(disk, directory)) {
    if (named.has(name)) continue;
    const found = await rowFrom(disk, directory, name).catch((error: unknown) => messageOf(error));
    if (typeof found === "string") problems.push({ code: "row_broken", what: `${name}: ${found}` });
    if (found === undefined || typeof found === "string") continue;
    const other = rows.get(found.key);
    const newer = (found.row.sessionStartedAt ?? 0) >= (other?.sessionStartedAt ?? 0);
    if (other !== undefined) {
      problems.push({ code: "rebuilt_twice", what: `${found.key}: ${newer ? other.sessionFile : name} was left out` });
    }
    if (newer) rows.set(found.key, found.row);
  }
  if (rows.size > 0) problems.push({ code: "rebuilt", what: `${rows.size} rows from transcripts` });
  return { rows, problems };
}
