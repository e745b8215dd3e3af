/**
 * The storage contract: a log per session, a row per key, two numbers per session.
 *
 * A store does raw work; the objects in front of it validate. One rule for a locked file, a script and a transaction:
 * `commit` is compare-and-set. If the log has moved past `expect` it appends nothing and says what was added; if the turn
 * right is stale it refuses; else the lines are stamped and as durable as asked when it returns.
 * Every store must pass the cases of `@holdfast/sessions/conformance`.
 */
import type { ArchivedName } from "./archive-name.ts";
import type { Entry, Header } from "./entry.ts";
import type { ByteSource } from "./reading/source.ts";
import type { Claim, ListedSession, ListQuery, Right, SessionRow } from "./types.ts";

/** A place in one log as its store knows it: opaque, never compared by anyone else, never stored. */
export type Position = (string | object) & { readonly position: unique symbol };

/** Where a session's log is: its id, and the row's `sessionFile` (for a store without files no more than a name). */
export interface LogRef {
  readonly id: string;
  readonly file: string;
}

/** An entry that is complete but for the numbers, which only the store may give. */
export type Unstamped = Omit<Entry, "g" | "t"> & { readonly [field: string]: unknown };

/** What a log begins with; an iterable is read once, and only when the log is made. */
export type FirstEntries = readonly Unstamped[] | AsyncIterable<Unstamped>;

export interface CommitRequest {
  readonly log: LogRef;
  /** Where the caller believes the log ends. */
  readonly expect: Position;
  /** Stamps `t`. Left out: the lines belong to no turn. */
  readonly right?: Right;
  /** May be empty: then the commit only checks the position and, with `sync`, makes durable what is there. */
  readonly entries: readonly Unstamped[];
  /** Durable when it returns; otherwise when the store sees fit. */
  readonly sync: boolean;
}

/** What happened to a log between a position and now: nothing, growth, the same content under another inode, or a break. */
export type Since = "none" | "grown" | "moved" | "rewritten";

/** A log as it was at one moment. Dispose of it: it may hold a descriptor. */
export interface Reading extends AsyncDisposable {
  readonly position: Position;
  readonly source: ByteSource;
  /** Against the position that was asked about; `none` where none was. */
  readonly since: Since;
  /** Where the places of this log's entries may be kept. Left out: they are not kept, or reading the log is cheaper. */
  readonly sidecar?: Sidecar;
}

/** Something derived that is kept beside a log. Never throws for lost storage: it may always be made anew. */
export interface Sidecar {
  /** What was kept for exactly this state of the log, or undefined. Checked, but not to be believed blindly. */
  load(): Promise<Uint32Array | undefined>;
  /** Keeps it, unless the log went on meanwhile. */
  keep(slots: Uint32Array): Promise<void>;
}

export type Committed =
  /** `end`: the size of the log now, as its sources count it. */
  | {
      readonly kind: "committed";
      readonly position: Position;
      readonly end: number;
      readonly entries: readonly Entry[];
    }
  /** Not at `expect` any more: nothing was written. The reading shows what was added; undefined: the log is gone. */
  | { readonly kind: "behind"; readonly reading: Reading | undefined }
  | { readonly kind: "stale_turn"; readonly t: number };

/** A log as keeping sees it: by its name, without reading it. */
export interface StoredLog {
  readonly log: LogRef;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly changedMs: number;
  /** Null for a live one. */
  readonly archived: ArchivedName | null;
  /** Compressed; `restore` undoes that. */
  readonly packed: boolean;
  /** Somebody works on it: a turn right whose lease runs and whose holder is not proven dead. */
  readonly leased: boolean;
}

/**
 * The part that a session needs: one log after the other. Throws `SessionError` for lost storage only (`write_failed`,
 * `read_failed`, `lock_timeout`, `path_outside`, ...). Values given and returned belong to the receiver. All methods may be
 * called concurrently.
 */
export interface LogStore {
  /** Makes the log with these first lines, durably and whole, unless it exists: then nothing is written. */
  create(log: LogRef, header: Header, entries: FirstEntries): Promise<"created" | "exists">;
  claimTurn(log: LogRef, holder: string, leaseMs: number): Promise<Claim>;
  /** False when a newer right exists or this one was released. */
  renewTurn(log: LogRef, right: Right, leaseMs: number): Promise<boolean>;
  releaseTurn(log: LogRef, right: Right): Promise<void>;
  commit(request: CommitRequest): Promise<Committed>;
  /** The log now, to be read from either end without any lock; undefined when there is none. */
  read(log: LogRef, since?: Position): Promise<Reading | undefined>;
  /** The path people may look at, or null. */
  pathOf(log: LogRef): string | null;
}

export interface SessionStore extends LogStore {
  readonly supports: {
    /** What is acknowledged survives power loss. */
    readonly durable: boolean;
    /** Other processes may use the same store at the same time. */
    readonly shared: boolean;
    /** Logs are files that people may look at. */
    readonly files: boolean;
  };

  get(key: string): Promise<SessionRow | undefined>;
  /**
   * Changes one row atomically: `change` gets the present row and returns the next one, or null to remove it, or the same
   * object to leave it. It may be called more than once and must not have effects. Returns the row as it now is.
   */
  update(
    key: string,
    change: (row: SessionRow | undefined) => SessionRow | undefined | null,
  ): Promise<SessionRow | undefined>;
  /** Rows, the one last written (`updatedAt`) first. The newest few cost the same however many there are. */
  list(query?: ListQuery): Promise<readonly ListedSession[]>;
  /**
   * All logs, also those that no row names. A store that hands out its logs by row only may leave those out. `scrapAgeMs`:
   * removes what killed writers left of things they were making, too, if nobody has written to it for so long.
   */
  logs(sweep?: { readonly scrapAgeMs: number }): Promise<readonly StoredLog[]>;
  /**
   * Moves a log that ends at `expect` out of the way, under the name `as` (archive-name.ts). Durable when it returns; done
   * before, it is `archived` again. `behind`: somebody wrote meanwhile, and nothing was moved.
   */
  archive(log: LogRef, as: LogRef, expect: Position): Promise<"archived" | "behind" | "missing">;
  /** Moves it back, byte for byte. Done before, it is `restored` again. `exists`: another log has that name. */
  restore(archived: LogRef, log: LogRef): Promise<"restored" | "exists" | "missing">;
  /** Makes an archived log smaller. False when there was nothing to do. */
  pack(archived: LogRef, log: LogRef): Promise<boolean>;
  /** Destroys an archived log, durably; nothing else here destroys anything. False when there is none. */
  discard(archived: LogRef, log: LogRef): Promise<boolean>;
  /** What rows that are gone said is nowhere in the index any more. False: not now, somebody else is at it. */
  scrub(): Promise<boolean>;
  /** Ends background work and releases what is held. */
  close(): Promise<void>;
}
