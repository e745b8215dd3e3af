/** What people do with whole conversations: the same shapes over HTTP, from the command line and in its `--json`. Types only. */
import type { LedgerAction } from "@holdfast/agent";
import type { Purge, PutAway } from "@holdfast/sessions";

/**
 * POST /api/sessions/{key}/branch `{ entryId }`. `leaf` is the new entry that marks the choice. `left`: what was
 * done, or may have been, on the part that is left; it stays done and is never done again by going there or back.
 */
export interface WireBranched {
  readonly key: string;
  readonly leaf: string | null;
  readonly from: string;
  readonly left: readonly LedgerAction[];
  readonly durable: boolean;
}

export interface WireForkPoint {
  /** Copy up to this entry; left out: up to the current leaf. */
  readonly entryId?: string;
  /** Leave out a question that has no answer yet. */
  readonly wholeTurns?: boolean;
}

/** POST /api/sessions/{key}/fork `{ to, entryId?, wholeTurns? }`. `entryId`: the last one copied; null: none. */
export interface WireForked {
  readonly key: string;
  readonly from: string;
  readonly sessionId: string;
  readonly entryId: string | null;
  readonly closedCalls: number;
}

/** POST /api/sessions/{key}/label `{ entryId, label }`; an empty label takes it back. */
export interface WireLabelled {
  readonly key: string;
  readonly entryId: string;
  readonly label: string | null;
  readonly durable: boolean;
}

/** POST /api/sessions/{key}/rename `{ name }`; an empty name takes it back. */
export interface WireRenamed {
  readonly key: string;
  readonly name: string | null;
  readonly durable: boolean;
}

/** POST /api/sessions/{key}/reset. `before`: what became of the transcript that was left. */
export interface WireReset {
  readonly key: string;
  readonly sessionId: string;
  readonly before: PutAway;
}

/** POST /api/sessions/{key}/archive */
export type WireArchived = PutAway & { readonly key: string };

/** POST /api/sessions/{key}/clear */
export type WireCleared = PutAway & { readonly key: string; readonly sessionId: string };

/** POST /api/restore `{ agentId, name, as? }`. `name`: a session key, or the id of a transcript that no row names. */
export interface WireRestored {
  readonly key: string;
  readonly sessionId: string;
}

/**
 * POST /api/sessions/{key}/purge `{ dryRun }`. `kept`: why nothing was done. `folders`: of actions, that were emptied.
 * `unreachable`: where copies may be that nobody here can destroy.
 */
export type WirePurged = Purge & { readonly folders: number; readonly unreachable: readonly string[] };

/** All acts on the conversations of one agent. Each is durable when it resolves. */
export interface ConversationActs {
  branch(key: string, entryId: string): Promise<WireBranched>;
  fork(key: string, to: string, point: WireForkPoint): Promise<WireForked>;
  label(key: string, entryId: string, label: string): Promise<WireLabelled>;
  rename(key: string, name: string): Promise<WireRenamed>;
  reset(key: string): Promise<WireReset>;
  archive(key: string): Promise<WireArchived>;
  clear(key: string): Promise<WireCleared>;
  restore(name: string, as?: string): Promise<WireRestored>;
  /** Destroys the conversation and all transcripts of its key. */
  purge(key: string, dryRun: boolean): Promise<WirePurged>;
}
