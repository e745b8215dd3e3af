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
/**
 * `waiting`: for a person's yes; later items of its queue pass it. `dropped`: never worked on (a limit of the queue, a stop, a
 * message its sender took back); kept like other ended items, with the reason as its result.
 */
export type ItemState = "queued" | "claimed" | "waiting" | "done" | "failed" | "dropped";

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
  /** Not to be worked on before this time; as soon as possible when left out. */
  readonly notBeforeMs?: number;
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
  /** The item in whose turn this one is answered, too; it is not claimed while that one is unfinished. */
  readonly joined: string | null;
  /** How it ended: what `settle` or `drop` was given; of a waiting item, what it waits for. */
  readonly result: JsonObject | null;
}

export type ItemPatch = Partial<Pick<LaneItem, "start" | "attempts" | "idleAttempts" | "progress">>;

/**
 * One change of a commit. Those of the first group need the holder's claim on the item; those of the second an item that
 * nobody has claimed.
 */
export type Change =
  | { readonly kind: "note"; readonly id: string; readonly patch: ItemPatch }
  /** Back to its place in the queue. */
  | { readonly kind: "release"; readonly id: string; readonly notBeforeMs: number }
  /** Out of its queue, until it is woken. `result`: what it waits for. */
  | { readonly kind: "park"; readonly id: string; readonly result: JsonObject }
  | { readonly kind: "settle"; readonly id: string; readonly state: "done" | "failed"; readonly result: JsonObject }
  /** Taken into the turn of `into`, which this holder has claimed. Its start is kept where it has one. */
  | { readonly kind: "join"; readonly id: string; readonly into: string; readonly start: Start }
  /** The end of an item that was joined. */
  | {
      readonly kind: "settleJoined";
      readonly id: string;
      readonly state: "done" | "failed";
      readonly result: JsonObject;
    }
  | { readonly kind: "wake"; readonly id: string }
  | { readonly kind: "drop"; readonly id: string; readonly result: JsonObject }
  | { readonly kind: "amend"; readonly id: string; readonly body: JsonObject }
  /** Not to be begun before this time; never brought forward. */
  | { readonly kind: "delay"; readonly id: string; readonly notBeforeMs: number }
  /** Idempotent by key. */
  | { readonly kind: "enqueue"; readonly item: NewLaneItem };

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
  /**
   * Idempotent by key: a known key returns the item that is there, whatever became of it, and nothing else is changed.
   * `also` is carried out in the same step; a change in it that is not possible any more is left out.
   */
  enqueue(
    item: NewLaneItem,
    nowMs: number,
    also?: readonly Change[],
  ): Promise<{ readonly fresh: boolean; readonly item: LaneItem }>;
  /**
   * The oldest item that may be worked on now, or undefined. An expired lease counts as none. A time that is further ahead
   * than the longest delay (`LIMITS.retryAfterMaxMs`) or the lease is due: the clock was set back.
   */
  claim(request: ClaimRequest): Promise<LaneItem | undefined>;
  renew(id: string, holder: string, leaseUntilMs: number): Promise<boolean>;
  /** All of the changes or, when one of them is not possible, none: false. */
  commit(holder: string, changes: readonly Change[], nowMs: number): Promise<boolean>;
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
  forget(endedBeforeMs: number): Promise<number>;
  close(): Promise<void>;
}
