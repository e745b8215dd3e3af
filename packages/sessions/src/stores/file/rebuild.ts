/**
 * Makes index rows out of the transcripts, when snapshot, copy and journals are all lost: each transcript names its key.
 * Invariant: it only reads. Files that were closed by reset or clear give no row; of several for one key the newest start wins.
 */
import { join } from "node:path";
import { isObject, LIMITS, messageOf, tryParse } from "@holdfast/base";
import { isSessionId } from "../../key.ts";
import type { SessionRow, SessionsProblem } from "../../types.ts";
import type { Disk, DiskFile } from "./disk.ts";
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

/** Put away for good: the last word about it is `closed` by reset or clear. */
function wasClosed(lines: readonly Record<string, unknown>[]): boolean {
  const last = lines.findLast((line) => line.customType === "holdfast:closed" || line.customType === "holdfast:opened");
  if (last?.customType !== "holdfast:closed" || !isObject(last.data)) return false;
  return last.data.reason === "reset" || last.data.reason === "clear";
}

async function rowFrom(disk: Disk, directory: string, name: string): Promise<Found | undefined> {
  await using file = await disk.open(join(directory, name), "read");
  const stat = await file.stat({ bigint: true });
  const first = await linesAt(file, 0);
  const about = first.find((line) => line.customType === "holdfast:session");
  if (about === undefined || !isObject(about.data) || typeof about.data.key !== "string") return undefined;
  if (wasClosed(await linesAt(file, Math.max(0, Number(stat.size) - LIMITS.tailCompareBytes)))) return undefined;
  const header = first.find((line) => line.type === "session");
  const sessionId =
    typeof header?.id === "string" && isSessionId(header.id) ? header.id : name.slice(0, -".jsonl".length);
  if (!isSessionId(sessionId)) return undefined;
  const startedAt = Date.parse(String(header?.timestamp ?? about.timestamp));
  const origin = Object.fromEntries(
    ["channel", "chatType"].flatMap((field) => {
      const value = isObject(about.data) ? about.data[field] : undefined;
      return typeof value === "string" ? [[field, value]] : [];
    }),
  );
  const times = {
    ...(Number.isFinite(startedAt) ? { sessionStartedAt: startedAt } : {}),
    updatedAt: Number(stat.mtimeNs / 1_000_000n),
  };
  return { key: about.data.key, row: { sessionId, sessionFile: name, ...times, ...origin } };
}

/** Rows for all transcripts of the directory that name their key. */
export async function rebuildRows(disk: Disk, directory: string): Promise<{ rows: Rows; problems: SessionsProblem[] }> {
  const rows: Rows = new Map();
  const problems: SessionsProblem[] = [];
  const names = (await disk.list(directory)).filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."));
  for (const name of names.sort()) {
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
