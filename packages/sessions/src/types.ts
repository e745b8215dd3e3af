/**
 * What a user of this package holds in their hands: `Sessions`, `Session`, `Right`, and what calls return.
 * The objects behind these types validate what they are given; stores do raw work.
 */
import type { Entry, EntryMessage, Header, NewEntry } from "./entry.ts";
import type { Keeping } from "./keeping/keep.ts";
import type { Gap } from "./tree.ts";

export type Fsync = "always" | "turn" | "never";

/** One row of `sessions.json` (docs/format.md). Times are milliseconds since 1970. Unknown fields are carried through. */
export interface SessionRow {
  readonly sessionId: string;
  readonly sessionFile: string;
  readonly sessionStartedAt?: number;
  readonly lastInteractionAt?: number;
  readonly updatedAt?: number;
  readonly status?: "running" | "done" | "failed" | "timeout" | "aborted" | "killed";
  readonly state?: "opening";
  readonly label?: string;
  readonly channel?: string;
  readonly chatType?: string;
  readonly [field: string]: unknown;
}

/** The turn right: a number that only grows per session. Whoever holds an older number is refused (`stale_turn`). */
export interface Right {
  readonly session: string;
  readonly t: number;
  readonly holder: string;
}
export type Claim =
  | { readonly kind: "claimed"; readonly right: Right }
  | { readonly kind: "held"; readonly by: string; readonly untilMs: number };

/** What others did to the log since we last looked (durability.md, "Appending"). */
export type Change =
  | "none"
  | "harmless"
  | "turn"
  | "branch"
  | "compacted"
  | "moved"
  | "rewritten"
  | "gone"
  | "stale_turn";

/** Where a line stands: its number from 1, and the byte it begins at. */
export interface LinePlace {
  /** Null when it is not known: the lines before it were not read. */
  readonly line: number | null;
  readonly offset: number;
}

/** Everything odd that was met while reading. Never throws away: every skipped byte is in here. */
export interface OpenReport {
  readonly entriesRead: number;
  readonly bytesRead: number;
  /**
   * True when not every line was read: reading stopped because the context was complete, or passed over lines of other
   * branches without looking into them. What is odd about those is not in here.
   */
  readonly partial: boolean;
  readonly header: "ok" | "missing" | "damaged" | "unread";
  readonly damaged: readonly (LinePlace & { readonly bytes: number; readonly why: string })[];
  readonly gaps: readonly (LinePlace & Gap)[];
  readonly duplicates: readonly (LinePlace & { readonly id: string; readonly identical: boolean })[];
  readonly stale: readonly (LinePlace & { readonly id: string; readonly g: number })[];
  /** What is odd and loses nothing, by kind: on how many lines, and where the first of them stands. */
  readonly noted: readonly (LinePlace & {
    readonly what: "blank line" | "carriage return" | "unknown type";
    readonly lines: number;
  })[];
}

export interface ContextOptions {
  /** The leaf to build from; the current one when left out. */
  readonly leaf?: string;
  readonly maxMessages?: number;
  readonly maxTokens?: number;
  /**
   * Find model and thinking level however far back they were set, with the index. Left out, they are null where nothing that
   * is loaded says them: compactions of ours do.
   */
  readonly settings?: boolean;
}
export interface ContextReport {
  readonly leaf: string | null;
  readonly included: readonly string[];
  readonly leftOut: readonly { readonly id: string; readonly why: string }[];
  readonly compaction: string | null;
  readonly messages: number;
  readonly approximateTokens: number;
  /** What was odd and how it was read, in words. */
  readonly notes?: readonly string[];
}
/** `messages` equal, for a well-formed file, what Pi builds from it. `entryIds[i]` names where message i came from. */
export interface Context {
  readonly messages: readonly EntryMessage[];
  readonly entryIds: readonly string[];
  readonly model: { readonly provider: string; readonly modelId: string } | null;
  /** "off" until it is set. Null: set before what was read, if at all (`OpenReport.partial`). */
  readonly thinkingLevel: string | null;
  readonly report: ContextReport;
}

export interface Appended {
  /** As written: with id, parent, time, `g`, and `t` under a right. In the order given. */
  readonly entries: readonly Entry[];
  readonly durable: boolean;
  /** What others had added since we last looked; already taken in. */
  readonly change: Change;
}
export interface AppendOptions {
  /** Stamps `t`; refused with `stale_turn` when a higher one exists. */
  readonly right?: Right;
  /** Force the sync although the policy would not (`turn`, `never`). */
  readonly sync?: boolean;
}

/** Told after each commit of this object and after catching up. Must not throw. Never a step of the path. */
export type SessionListener = (event: {
  readonly entries: readonly Entry[];
  readonly durable: boolean;
  readonly leaf: string | null;
  readonly own: boolean;
}) => void;

/**
 * An open conversation. All methods may be called concurrently; appends of one object are written in call order.
 * Throws `SessionError`: `closed`, `stale_turn`, `stale_fence`, `calls_open`, `rewritten`, `gone`, `bad_entry`,
 * `entry_missing`, `lock_timeout`, `write_failed`.
 */
export interface Session extends AsyncDisposable {
  readonly key: string;
  readonly id: string;
  /** Path of the transcript, or null where the store has no files. */
  readonly file: string | null;
  /** Whether this key had a conversation before. */
  readonly found: "new" | "resumed";
  readonly report: OpenReport;
  readonly header: Header | null;
  readonly tree: SessionTree;

  leaf(): string | null;
  /** The current path, oldest first: at least from where the context begins to the leaf. */
  path(): readonly Entry[];
  /** The model's messages. Pure over what is loaded when `leaf` is left out. */
  context(options?: ContextOptions): Promise<Context>;
  /** All entries of the file after the given one, on all branches, in file order; `null` means from the start. */
  since(entryId: string | null): Promise<readonly Entry[]>;
  /** One entry, wherever it is, or undefined. */
  entry(id: string): Promise<Entry | undefined>;
  /** Entries from the newest backwards; reads only as far as you go. */
  newestFirst(): AsyncIterable<Entry>;
  /** Entries in file order. */
  oldestFirst(): AsyncIterable<Entry>;

  /**
   * Appends in one write; returns when as durable as the policy says. A missing `parentId` means the current leaf (or the
   * entry before in the same call). A parent that is not the current leaf is a late entry: it gets `returnTo` and a
   * `holdfast:leaf` line follows in the same write, so the leaf stays where it was.
   */
  append(entries: NewEntry | readonly NewEntry[], options?: AppendOptions): Promise<Appended>;
  /** Moves the leaf, durably at once (a `holdfast:leaf` entry). */
  branch(entryId: string, options?: AppendOptions & { readonly reason?: string }): Promise<Appended>;
  /** Reads what others added. */
  catchUp(): Promise<Change>;

  claimTurn(holder: string, leaseMs: number): Promise<Claim>;
  /** False when a newer right exists: stop working. */
  renewTurn(right: Right, leaseMs: number): Promise<boolean>;
  releaseTurn(right: Right): Promise<void>;

  subscribe(listener: SessionListener): Disposable;
  close(): Promise<void>;
}

/** The end of a branch; `entry.timestamp` is its last activity. */
export interface SessionLeaf {
  readonly entry: Entry;
  /** Whether the conversation stands here. */
  readonly current: boolean;
}

/** The end of a branch as people see it: the last thing said on it. */
export interface BranchEnd {
  /** Where to go on: `session.branch(id)`. */
  readonly id: string;
  /** Whether the conversation stands here. */
  readonly current: boolean;
  /** The time of the last thing said on it (ISO 8601), or "" where it has none. */
  readonly lastActivity: string;
  /** Things said from the root to here. */
  readonly depth: number;
  /** The first thing said that its siblings do not share: id, role (null: not a message) and the beginning of its text. */
  readonly differs: BranchChild;
  readonly label: string | null;
}

export interface BranchChild {
  readonly id: string;
  readonly role: string | null;
  readonly words: string;
}

/**
 * The tree of a session at any size: what is asked about is found without reading the rest. Looking moves nothing.
 * Lists come in pages of `limit` entries (100). Ids that are not there throw `entry_missing`.
 */
export interface SessionTree {
  /** Entries under `id` (null: the roots), in file order; `after`: those that come after this one. */
  children(id: string | null, page?: { readonly after?: string; readonly limit?: number }): Promise<readonly Entry[]>;
  /** Entries above `id`, the nearest first; go on with the last one. */
  ancestors(id: string, page?: { readonly limit?: number }): Promise<readonly Entry[]>;
  /** The deepest entry that both have on their path (an entry is on its own), or null. */
  commonAncestor(a: string, b: string): Promise<Entry | null>;
  /** The ends of all branches, the latest activity first. */
  leaves(page?: { readonly limit?: number }): Promise<readonly SessionLeaf[]>;
  /**
   * The ends as people see them, state and book-keeping left out, in file order; and where the conversation stands, even if
   * more was said below. `after`: those that come after this end.
   */
  ends(page?: { readonly after?: string; readonly limit?: number }): Promise<readonly BranchEnd[]>;
  /** What was said next after an entry, on all branches, in file order; null: what was said first. */
  saidAfter(
    id: string | null,
    page?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly BranchChild[]>;
  /** Entries of all branches before `before` (left out: the newest ones), in file order. */
  page(page?: { readonly before?: string; readonly limit?: number }): Promise<readonly Entry[]>;
  /**
   * What is in force at `leaf` (left out: the current one) however far back it was set, and what the conversation was
   * called last. `model` null: never set.
   */
  settings(leaf?: string): Promise<{
    readonly model: { readonly provider: string; readonly modelId: string } | null;
    readonly thinkingLevel: string;
    readonly name: string | null;
  }>;
}

/** Which rows: those whose key begins with `prefix`, at most `limit`. */
export interface ListQuery {
  readonly prefix?: string;
  readonly limit?: number;
}

export interface ListedSession {
  readonly key: string;
  readonly row: SessionRow;
}

export interface Sessions extends AsyncDisposable {
  readonly fsync: Fsync;
  /** What is done with whole conversations: fork, reset, archive, restore, clear, retention. */
  readonly keep: Keeping;
  /** Opens the conversation of this key, creating it if there is none. One object per key and process. */
  open(key: string, origin?: { readonly channel?: string; readonly chatType?: string }): Promise<Session>;
  /** The row, or undefined. Reads no transcript. */
  get(key: string): Promise<SessionRow | undefined>;
  /** Newest first by `updatedAt`. */
  list(query?: ListQuery): Promise<readonly ListedSession[]>;
  /** Changes fields of a row atomically; `undefined` values remove a field. Throws `session_missing`. */
  update(key: string, patch: Readonly<Record<string, unknown>>): Promise<SessionRow>;
  close(): Promise<void>;
}

/** Something odd about a store that a person should know; what could be used is in use. */
export interface SessionsProblem {
  readonly code:
    | "row_broken"
    | "line_broken"
    | "edited_by_hand"
    | "from_backup"
    | "rebuilt"
    | "rebuilt_twice"
    | "fold_failed"
    | "transcript_lost"
    /** A write lock was taken over, is held for too long, was not renewed, or could not be given back. */
    | "lock_reclaimed"
    | "lock_held_long"
    | "lock_not_renewed"
    | "lock_left";
  readonly what: string;
}

export interface OpenSessionsOptions {
  /** Where `sessions.json` and the transcripts live; created 0700 if missing. */
  readonly directory: string;
  readonly agentId?: string;
  readonly fsync?: Fsync;
  readonly cwd?: string;
  /**
   * Folders with files `<channel>_<user>.jsonl` of the older layout (docs/format.md). Each is the conversation
   * `agent:<agentId>:<channel>:direct:<user>` until somebody writes to it; what is written goes to a transcript of its own,
   * and the file stays as it is.
   */
  readonly flatDirectories?: readonly string[];
  /**
   * `mode: "create"` locks with files instead of the kernel, for a directory on a share; every process on it finds out by
   * itself. A directory that is locked otherwise refuses it (`lock_mode_unavailable`).
   */
  readonly writeLock?: {
    readonly timeoutMs?: number;
    readonly staleMs?: number;
    readonly maxHoldMs?: number;
    readonly mode?: "create";
  };
  /** Told about each oddity once; must not throw. Left out: a process warning. */
  readonly onProblem?: (problem: SessionsProblem) => void;
}
