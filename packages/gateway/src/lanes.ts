/**
 * Lanes: durable queues between the segments of a message's way.
 *
 * channel → accept → [main] → turn → [out] → deliver
 * Invariants: an item is durable before `enqueue` returns; a key is in a lane once; of one queue (a session, an
 * address) only the oldest unfinished item can be claimed. Without the first an acknowledged message could be lost, without
 * the second a redelivery would run twice, without the third two turns would work on one session.
 */
import type { JsonObject } from "@holdfast/base";

/** `main`: messages on their way to a turn. `out`: replies on their way to a platform. */
export type Lane = "main" | "out";
export type ItemState = "queued" | "claimed" | "done" | "failed";

/** Where the item's turn began; kept from its first opening on. */
export interface Start {
  readonly sessionId: string;
  readonly leaf: string | null;
}

export interface NewLaneItem {
  readonly lane: Lane;
  /** Unique in its lane for as long as items are kept. */
  readonly key: string;
  /** Items of one queue are worked on one after the other, in the order they came. */
  readonly queue: string;
  readonly body: JsonObject;
}

export interface LaneItem extends NewLaneItem {
  readonly id: string;
  readonly state: ItemState;
  readonly acceptedMs: number;
  readonly notBeforeMs: number;
  /** Times it was claimed; more than `attempts` where somebody else was at work. */
  readonly claims: number;
  /** Attempts charged, in all and since the last progress. */
  readonly attempts: number;
  readonly idleAttempts: number;
  /** How far the work had come at the last charge; only compared. */
  readonly progress: number;
  readonly start: Start | null;
  /** What `settle` was given. */
  readonly result: JsonObject | null;
}

export type ItemPatch = Partial<Pick<LaneItem, "start" | "attempts" | "idleAttempts" | "progress">>;

export interface ClaimRequest {
  readonly lane: Lane;
  readonly holder: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

export interface ItemQuery {
  readonly lane: Lane;
  readonly queue?: string;
  readonly states?: readonly ItemState[];
  /** The newest this many, oldest first. */
  readonly limit?: number;
}

/**
 * Stores do raw work; callers validate. Each method is one atomic step, durable when it returns.
 * A method that takes a holder does nothing and says so (false) when the claim is not, or no longer, that holder's.
 */
export interface LaneStore {
  /** Idempotent by key: a known key returns the item that is there, whatever became of it. */
  enqueue(item: NewLaneItem, nowMs: number): Promise<{ readonly fresh: boolean; readonly item: LaneItem }>;
  /**
   * The oldest item that may be worked on now, or undefined. An expired lease counts as none. A time that is further ahead
   * than the longest delay (`LIMITS.retryAfterMaxMs`) or the lease is due: the clock was set back.
   */
  claim(request: ClaimRequest): Promise<LaneItem | undefined>;
  renew(id: string, holder: string, leaseUntilMs: number): Promise<boolean>;
  /** Changes what a claimed item remembers of its work. */
  note(id: string, holder: string, patch: ItemPatch): Promise<boolean>;
  /** Back to its place in the queue, not before the given time. */
  release(id: string, holder: string, notBeforeMs: number): Promise<boolean>;
  /** The end of the item. */
  settle(id: string, holder: string, state: "done" | "failed", result: JsonObject, nowMs: number): Promise<boolean>;
  /**
   * Returns what holders other than this one had claimed to the queue; how many. Only for whoever owns the home. What a
   * spared holder has stays its own until its lease ends.
   */
  takeOver(holder: string, spared?: (holder: string) => boolean): Promise<number>;
  get(id: string): Promise<LaneItem | undefined>;
  list(query: ItemQuery): Promise<readonly LaneItem[]>;
  /** When, at the earliest, an item of the lane may be claimed, as far as the first of each queue tell; null: none is there. */
  nextDue(lane: Lane): Promise<number | null>;
  /** Forgets items that ended before this time; how many. */
  forget(settledBeforeMs: number): Promise<number>;
  close(): Promise<void>;
}
