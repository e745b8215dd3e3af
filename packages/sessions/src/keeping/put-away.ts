/**
 * Putting a transcript away and getting it back, whatever a crash left half done.
 *
 * Away: turn right → `holdfast:closed` → rename → row. Back: rename → `holdfast:opened` → row.
 * Invariants: each step is durable before the next and finds out for itself whether it was done before, so doing all of it
 * again is the recovery; nothing that is worked on, or waits for a result or an answer, is put away unless a person says so.
 */
import { identityOf, LIMITS, type World } from "@holdfast/base";
import { archivedFile, type ClosedReason, liveFile } from "../archive-name.ts";
import { CURRENT_VERSION } from "../reading/header.ts";
import type { LogRef, Reading, SessionStore, StoredLog } from "../store.ts";
import type { Fsync, Right } from "../types.ts";
import { lookAt, type Standing, standingOf } from "./look.ts";
import { commitMarks, type LogState } from "./marks.ts";

export interface KeepingTools {
  readonly store: SessionStore;
  readonly world: World;
  readonly fsync: Fsync;
}

/** Why something was left where it is. `changed`: others kept writing to it. */
export type KeptWhy = "running" | "pinned" | "open_calls" | "open_approvals" | "changed" | "missing";

export type PutAway =
  | { readonly kind: "archived"; readonly file: string }
  | { readonly kind: "kept"; readonly why: KeptWhy };

export interface PutAwayOptions {
  readonly reason: ClosedReason;
  /** The conversation that goes on instead. */
  readonly successor?: string;
  /** What is open is ended, on record. */
  readonly endOpen?: boolean;
}

const ROUNDS_MAX = 20;

/** The log must be live. Throws what the store throws. */
export async function putAway(tools: KeepingTools, log: LogRef, options: PutAwayOptions): Promise<PutAway> {
  return withTurn(tools, log, async (right) => {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const reading = await tools.store.read(log);
      if (reading === undefined) return whereItWent(tools, log);
      await using now = reading;
      const done = await tryPutAway(tools, { log, right, now, isFirst: round === 0 }, options);
      if (done !== "again") return done;
    }
    return { kind: "kept", why: "changed" };
  });
}

/** Under a turn right of our own, so that no turn begins meanwhile. */
async function withTurn(
  { store, world }: KeepingTools,
  log: LogRef,
  work: (right: Right) => Promise<PutAway>,
): Promise<PutAway> {
  const holder = JSON.stringify(identityOf(world.newId("holder")));
  const claim = await store.claimTurn(log, holder, LIMITS.leaseMs);
  if (claim.kind === "held") return { kind: "kept", why: "running" };
  try {
    return await work(claim.right);
  } finally {
    await store.releaseTurn(log, claim.right);
  }
}

async function tryPutAway(
  tools: KeepingTools,
  at: { readonly log: LogRef; readonly right: Right; readonly now: Reading; readonly isFirst: boolean },
  options: PutAwayOptions,
): Promise<PutAway | "again"> {
  const { log, right, now } = at;
  const { store, world, fsync } = tools;
  const state = await lookAt(now);
  // Somebody opened it again between our line and our move: it is wanted.
  const isWanted = !at.isFirst && state.mark?.kind === "opened";
  const why = isWanted ? "changed" : options.endOpen === true ? undefined : whyKept(state);
  if (why !== undefined) return { kind: "kept", why };
  let atMs = world.nowMs();
  let expect = now.position;
  // What a person ended stays ended, whoever finishes it.
  const reason = endedBy(state) ?? options.reason;
  const isClosed = state.mark?.kind === "closed" && state.mark.reason === reason;
  if (isClosed) atMs = state.mark?.atMs ?? atMs;
  // An older version is only read: it is put away as it is.
  if (state.version === CURRENT_VERSION) {
    const end = { log, expect, leaf: state.leaf, right, sync: fsync !== "never" };
    // Whoever closed it may have died before that was durable; the new name is made from it, and must not outlive it.
    const outcome = await commitMarks(tools, end, isClosed ? [] : closing(state, { ...options, reason }));
    if (outcome.kind === "stale_turn") return { kind: "kept", why: "running" };
    if (outcome.kind === "behind") {
      await outcome.reading?.[Symbol.asyncDispose]();
      return "again";
    }
    expect = outcome.position;
    atMs = Date.parse(outcome.entries.at(-1)?.timestamp ?? "") || atMs;
  }
  const file = archivedFile({ id: log.id, reason, atMs });
  const moved = await store.archive(log, { id: log.id, file }, expect);
  return moved === "archived" ? { kind: "archived", file } : "again";
}

export function whyKept({ openCalls, openApprovals }: LogState): KeptWhy | undefined {
  if (openCalls.length > 0) return "open_calls";
  return openApprovals.length > 0 ? "open_approvals" : undefined;
}

/** Reset or clear, if the log was closed by one of them. */
export function endedBy({ mark }: Pick<Standing, "mark">): "reset" | "clear" | undefined {
  if (mark?.kind !== "closed") return undefined;
  return mark.reason === "reset" || mark.reason === "clear" ? mark.reason : undefined;
}

/** What is still open is named, and unanswered approvals are answered with no. Whether an action happened stays open: nobody here knows. */
function closing(state: LogState, { reason, successor }: PutAwayOptions) {
  const { openCalls, openApprovals } = state;
  const answers = openApprovals.map((one) => ({
    customType: "holdfast:approval",
    data: { ...one, answered: "no", by: reason },
  }));
  const ended =
    openCalls.length + openApprovals.length === 0 ? {} : { ended: { calls: openCalls, approvals: openApprovals } };
  const data = { reason, ...(successor === undefined ? {} : { successor }), ...ended };
  return [...answers, { customType: "holdfast:closed", data }];
}

/** A log that is not where its row says: a crash came between the rename and the row. */
async function whereItWent({ store }: KeepingTools, log: LogRef): Promise<PutAway> {
  const found = await newestArchived(store, log.id);
  return found === undefined ? { kind: "kept", why: "missing" } : { kind: "archived", file: found.log.file };
}

export async function newestArchived(store: SessionStore, id: string): Promise<StoredLog | undefined> {
  const all = (await store.logs()).filter((one) => one.log.id === id && one.archived !== null);
  return all.toSorted((a, b) => (a.archived?.atMs ?? 0) - (b.archived?.atMs ?? 0)).at(-1);
}

/** Moves an archived log back to its live name. `missing`: it is in neither place. */
export async function moveBack(store: SessionStore, archived: LogRef): Promise<LogRef | "missing"> {
  const live: LogRef = { id: archived.id, file: liveFile(archived.id) };
  // `exists`: a log was begun anew under this name; it counts, and the archived one stays where it is.
  return (await store.restore(archived, live)) === "missing" ? "missing" : live;
}

/** Says that a closed log is open again, unless it is. `missing`: somebody moved it meanwhile. */
export async function reopen(tools: KeepingTools, log: LogRef): Promise<"open" | "missing" | "changed"> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const reading = await tools.store.read(log);
    if (reading === undefined) return "missing";
    await using now = reading;
    const state = await standingOf(now.source);
    if (state.mark?.kind !== "closed" || state.version !== CURRENT_VERSION) return "open";
    const at = { log, expect: now.position, leaf: state.leaf, sync: tools.fsync !== "never" };
    const data = { reason: state.mark.reason };
    const outcome = await commitMarks(tools, at, [{ customType: "holdfast:opened", data }]);
    if (outcome.kind === "committed") return "open";
    if (outcome.kind === "behind") await outcome.reading?.[Symbol.asyncDispose]();
  }
  return "changed";
}
