/**
 * One claimed item being worked on: the session, the turn right, and where the next entry goes.
 *
 * Of its fields `head`, `joined`, `partial`, `given` and `appending` change, nothing else.
 * Invariant: every append of a turn carries its right, and goes to the current leaf only where that continues this item's
 * own entries; else a branch that a person chose meanwhile would get an answer to something it does not contain.
 */
import { LIMITS } from "@holdfast/base";
import type { Appended, ContentBlock, Entry, NewEntry, Right, Session } from "@holdfast/sessions";
import { customTypeOf, turnRecordsOf } from "./entries.ts";
import { descends } from "./next-step.ts";
import type { Given } from "./context/bootstrap/inject.ts";
import { AgentError } from "./errors.ts";
import type { Agent, Joining, TurnItem } from "./types.ts";

export interface Work {
  readonly agent: Agent;
  readonly item: TurnItem;
  readonly session: Session;
  readonly right: Right;
  /** The leaf at which the item began; null for an empty transcript. */
  readonly start: string | null;
  /** When this attempt began, on the monotonic clock. */
  readonly startedMs: number;
  /** Aborts when the turn shall stop or its right is lost. */
  readonly signal: AbortSignal;
  /** The last entry of this item. */
  head: string | null;
  /** Messages taken into this turn, oldest first. */
  joined: readonly Joining[];
  /** What the model had said when it was stopped. */
  partial: readonly ContentBlock[];
  /** What its prompt has of the workspace's files; undefined until the model is asked. */
  given?: Given;
  /** Appends follow one another, so that parallel calls do not branch. */
  appending: Promise<unknown>;
}

/** What happened since the item began, on all branches, in file order. */
export function sinceStart(work: Pick<Work, "session" | "start">): Promise<readonly Entry[]> {
  return work.session.since(work.start);
}

/** The last entry written under a right of this item, else where it began. */
export function headOf(since: readonly Entry[], itemId: string, start: string | null): string | null {
  const rights = new Set(turnRecordsOf(since).flatMap((record) => (record.item === itemId ? [record.t] : [])));
  const own = since.findLast((entry) => entry.t !== undefined && rights.has(entry.t) && !isLeafMove(entry));
  return own?.id ?? start;
}

function isLeafMove(entry: Entry): boolean {
  return customTypeOf(entry) === "holdfast:leaf";
}

/** The leaf to go on from: the current one where it continues this item, else the item's own head. */
export async function placeOf(work: Work): Promise<string | null> {
  const leaf = work.session.leaf();
  if (leaf === work.head) return leaf;
  const since = await sinceStart(work);
  return descends(since, leaf, work.head) ? leaf : work.head;
}

/** Appends under the right, in one write. Returns when as durable as the policy says. */
export function append(work: Work, entries: readonly NewEntry[]): Promise<Appended> {
  const appended = work.appending.then(() => appendNow(work, entries));
  work.appending = appended.catch(() => undefined);
  return appended;
}

async function appendNow(work: Work, entries: readonly NewEntry[]): Promise<Appended> {
  const place = await placeOf(work);
  const late = place !== work.session.leaf();
  const [first, ...rest] = entries;
  if (first === undefined) throw new TypeError("append: nothing to append");
  const placed = late ? [{ ...first, parentId: place }, ...rest] : entries;
  const appended = await work.session.append(placed, { right: work.right });
  work.head = appended.entries.findLast((entry) => !isLeafMove(entry))?.id ?? work.head;
  work.agent.observe(work.item.sessionKey, {
    kind: "entries",
    entries: appended.entries,
    durable: appended.durable,
  });
  return appended;
}

/** Renews the right until disposed, then gives it back. A right that is lost, or cannot be renewed, aborts the signal. */
export function keepRight(
  session: Session,
  right: Right,
  { agent, signal }: { readonly agent: Pick<Agent, "world">; readonly signal: AbortSignal },
): { readonly signal: AbortSignal } & AsyncDisposable {
  const lost = new AbortController();
  const lose = (cause?: unknown): void => lost.abort(new AgentError("right_lost", { session: session.key }, cause));
  const renewing = agent.world.every(LIMITS.leaseRenewMs, () => {
    session.renewTurn(right, LIMITS.leaseMs).then((kept) => (kept ? undefined : lose()), lose);
  });
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    async [Symbol.asyncDispose]() {
      renewing[Symbol.dispose]();
      await session.releaseTurn(right);
    },
  };
}
