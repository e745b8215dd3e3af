/**
 * Retention, carried out: the policy's choice (retention.ts), checked against what only the transcripts tell; what a crash
 * left to do; transcripts that no row names; and the packing of what is in the archive.
 *
 * Invariants: a dry run writes nothing; nothing is destroyed but what expire.ts says; run again at once, it finds nothing to
 * do; ended by its signal, it has done whole conversations only.
 */
import { comesBack, liveFile, parseArchived } from "../archive-name.ts";
import { isSessionKey } from "../key.ts";
import type { SessionStore, StoredLog } from "../store.ts";
import type { ListedSession } from "../types.ts";
import { aboutLog } from "./adopt.ts";
import { bringBack } from "./bring-back.ts";
import { type Expired, expireArchives } from "./expire.ts";
import { lookAt } from "./look.ts";
import { type PutAway, putAway, whyKept } from "./put-away.ts";
import {
  type Chosen,
  isBackground,
  lastSpokenMs,
  planRetention,
  type RetentionFact,
  type RetentionPlan,
  type RetentionPolicy,
} from "./retention.ts";
import { archiveRow, change, clearRow, type KeepingParts, leavingOf, logOf, pack, putAwayLeft } from "./rows.ts";

export interface CleanupOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  /** Whether something waits for the conversation of this key, such as a message in a queue: then it stays (`awaited`). */
  readonly isAwaited?: (key: string) => Promise<boolean>;
  /** Ends it between two conversations; what was done until then is in the report. */
  readonly signal?: AbortSignal;
}

export interface CleanupReport {
  readonly dryRun: boolean;
  /** What was put away, or would be. `cleared`: background work whose row goes too. */
  readonly archived: readonly Chosen[];
  readonly cleared: readonly Chosen[];
  /** What was due and had to stay, with the reason. */
  readonly kept: RetentionPlan["kept"];
  /** Transcripts of ours that no row names. */
  readonly orphans: readonly { readonly file: string; readonly key: string; readonly outcome: PutAway["kind"] }[];
  /** Keys where something that was interrupted was finished. */
  readonly finished: readonly string[];
  readonly packed: number;
  /** Archived transcripts that were destroyed, or would be. */
  readonly deleted: readonly Expired[];
  /** The signal came before everything was done; the next round does the rest. */
  readonly ended: boolean;
  /** Bytes of live transcripts, before and after. */
  readonly liveBytes: number;
  readonly bytesAfter: number;
}

/** A file is made before its row: one that is younger may still get it. */
const ORPHAN_AGE_MS = 60 * 60 * 1000;

export async function cleanUp(
  parts: KeepingParts,
  policy: RetentionPolicy,
  { dryRun = false, isAwaited = nobodyWaits, signal }: CleanupOptions,
): Promise<CleanupReport> {
  const isOver = (): boolean => signal?.aborted === true;
  const finished = dryRun ? [] : await finishInterrupted(parts, isOver);
  const logs = await parts.store.logs(dryRun ? undefined : { scrapAgeMs: ORPHAN_AGE_MS });
  const rows = await parts.store.list();
  const plan = await checkedPlan(parts, { holdings: { logs, rows }, isAwaited, isOver }, policy);
  const done = dryRun ? { chosen: plan.chosen, kept: plan.kept } : await carryOut(parts, plan, { isAwaited, isOver });
  const orphans = await sweep(parts, { logs, rows }, { dryRun, isOver });
  const expired = await expireArchives(parts, policy.archiveMaxAgeMs ?? null, { dryRun, isOver });
  const packed = dryRun ? 0 : await packAll(parts, isOver);
  return {
    dryRun,
    archived: done.chosen.filter(({ act }) => act === "archive"),
    cleared: done.chosen.filter(({ act }) => act === "clear"),
    kept: [...done.kept, ...expired.kept],
    orphans,
    finished,
    packed,
    deleted: expired.deleted,
    ended: isOver(),
    liveBytes: plan.liveBytes,
    bytesAfter: plan.liveBytes - done.chosen.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

type IsAwaited = NonNullable<CleanupOptions["isAwaited"]>;

/** What is asked again and again on the way. */
interface Asking {
  readonly isAwaited: IsAwaited;
  readonly isOver: () => boolean;
}

async function nobodyWaits(): Promise<boolean> {
  return false;
}

interface Holdings {
  readonly logs: readonly StoredLog[];
  readonly rows: readonly ListedSession[];
}

function factsOf({ logs, rows }: Holdings, nowMs: number): RetentionFact[] {
  const byFile = new Map(logs.map((log) => [log.log.file, log]));
  return rows.flatMap(({ key, row }) => {
    if (!isSessionKey(key)) return [];
    const log = byFile.get(row.sessionFile);
    const isLive = log !== undefined && log.archived === null;
    const blocked = row.pinned === true ? "pinned" : log?.leased === true ? "running" : null;
    const lastAtMs = lastSpokenMs(row, log?.changedMs ?? nowMs);
    const about = { key, sessionId: row.sessionId, lastAtMs, background: isBackground(key, row), blocked };
    return [{ ...about, bytes: isLive ? log.bytes : null }];
  });
}

/** Asks the transcripts of those that are chosen, and chooses again, until nobody new is chosen. */
async function checkedPlan(
  { store, world }: KeepingParts,
  { holdings, isAwaited, isOver }: Asking & { readonly holdings: Holdings },
  policy: RetentionPolicy,
): Promise<RetentionPlan> {
  const nowMs = world.nowMs();
  const facts = new Map(factsOf(holdings, nowMs).map((fact) => [fact.key, fact]));
  const rows = new Map(holdings.rows.map(({ key, row }) => [key, row]));
  const asked = new Set<string>();
  for (;;) {
    const plan = planRetention([...facts.values()], policy, nowMs);
    const fresh = plan.chosen.filter(({ key }) => !asked.has(key));
    if (fresh.length === 0) return plan;
    // What was not asked about is not touched.
    if (isOver()) return { ...plan, chosen: plan.chosen.filter(({ key }) => asked.has(key)) };
    for (const { key } of fresh) {
      if (isOver()) break;
      asked.add(key);
      const [fact, row] = [facts.get(key), rows.get(key)];
      if (fact === undefined || row === undefined) continue;
      const blocked = (await isAwaited(key)) ? "awaited" : await openIn(store, logOf(row));
      if (blocked !== undefined) facts.set(key, { ...fact, blocked });
    }
  }
}

async function openIn(store: SessionStore, log: StoredLog["log"]): Promise<string | undefined> {
  const reading = await store.read(log);
  if (reading === undefined) return undefined;
  await using now = reading;
  return whyKept(await lookAt(now));
}

async function carryOut(
  parts: KeepingParts,
  plan: RetentionPlan,
  { isAwaited, isOver }: Asking,
): Promise<Pick<RetentionPlan, "chosen" | "kept">> {
  const chosen: Chosen[] = [];
  const kept = [...plan.kept];
  for (const one of plan.chosen) {
    if (isOver()) break;
    const row = await parts.store.get(one.key);
    // Spoken to or reset since the plan was made.
    if (row?.sessionId !== one.sessionId) continue;
    const { key, sessionId } = one;
    // A message may have come since.
    if (await isAwaited(key)) {
      kept.push({ key, sessionId, why: "awaited" });
      continue;
    }
    const isArchive = one.act === "archive";
    const outcome = await (isArchive ? archiveRow(parts, one.key, row, "retention") : clearRow(parts, one.key, row));
    if (outcome.kind === "archived" || (!isArchive && outcome.why === "missing")) chosen.push(one);
    else kept.push({ key, sessionId, why: outcome.why });
  }
  return { chosen, kept };
}

/**
 * Rows whose log was moved and who do not know it yet, in either direction, and logs that a reset left behind. A live log
 * whose row says that it is put away was on its way back, or spoken to while it was being put away.
 */
async function finishInterrupted(parts: KeepingParts, isOver: () => boolean): Promise<readonly string[]> {
  const finished: string[] = [];
  const logs = await parts.store.logs();
  const files = new Set(logs.map((log) => log.log.file));
  for (const { key, row } of await parts.store.list()) {
    if (isOver()) break;
    // Written again: whoever wrote it may have been killed before it was durable, and what it leaves would be gone too.
    if (leavingOf(row).length > 0) await change(parts, key, row.sessionId, (now) => ({ ...now }));
    const outcomes = await putAwayLeft(parts, key, row);
    const isBack = parseArchived(row.sessionFile) !== undefined && files.has(liveFile(row.sessionId));
    if (isBack) await bringBack(parts, key, row);
    await dropTraces(parts.store, logs, row);
    const archived =
      isBack || files.has(row.sessionFile)
        ? undefined
        : logs.findLast((log) => log.log.id === row.sessionId && log.archived !== null);
    if (archived !== undefined) await change(parts, key, row.sessionId, (now) => movedRow(now, archived));
    if (isBack || archived !== undefined || outcomes.some(({ kind }) => kind === "archived")) finished.push(key);
  }
  return finished;
}

/** An archived copy of what is live is a trace of its way there, or of its way back. One that is another log stays. */
async function dropTraces(store: SessionStore, logs: readonly StoredLog[], row: ListedSession["row"]): Promise<void> {
  const live = logs.find(({ log, archived }) => log.id === row.sessionId && archived === null);
  if (live === undefined) return;
  const traces = logs.filter(({ log, archived }) => log.id === row.sessionId && archived !== null);
  for (const trace of traces) await store.restore(trace.log, live.log);
}

function movedRow(row: ListedSession["row"], { log, archived }: StoredLog): ListedSession["row"] | null {
  if (archived === null || !comesBack(archived.reason)) return null;
  const { state: _state, ...rest } = row;
  return { ...rest, sessionId: row.sessionId, sessionFile: log.file, archivedAt: archived.atMs };
}

async function sweep(
  parts: KeepingParts,
  { logs, rows }: Holdings,
  { dryRun, isOver }: { readonly dryRun: boolean; readonly isOver: () => boolean },
): Promise<CleanupReport["orphans"]> {
  const named = new Set(rows.flatMap(({ row }) => [row.sessionId, ...leavingOf(row).map((log) => log.id)]));
  const nowMs = parts.world.nowMs();
  const orphans: CleanupReport["orphans"][number][] = [];
  for (const { log, archived, leased, changedMs } of logs) {
    if (isOver()) break;
    if (archived !== null || leased || named.has(log.id) || nowMs - changedMs < ORPHAN_AGE_MS) continue;
    const about = await aboutLog(parts.store, log);
    // A file that does not say whose it is was put there by somebody else.
    if (about?.key === undefined) continue;
    const outcome = dryRun ? "archived" : (await putAway(parts, log, { reason: "orphan" })).kind;
    orphans.push({ file: log.file, key: about.key, outcome });
  }
  return orphans;
}

async function packAll(parts: KeepingParts, isOver: () => boolean): Promise<number> {
  let packed = 0;
  for (const { log, archived, packed: isPacked } of await parts.store.logs()) {
    if (isOver()) break;
    if (archived !== null && !isPacked && (await pack(parts, log))) packed += 1;
  }
  return packed;
}
