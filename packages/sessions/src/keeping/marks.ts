/**
 * The two lines that say whether a transcript is in use: `holdfast:closed` and `holdfast:opened`; the later counts.
 * Invariant: what is open in a log (calls of ours without a result, approvals without an answer) is told from the whole log,
 * on all branches.
 */
import { isObject, type World } from "@holdfast/base";
import { CallLedger, type OpenCall } from "../calls.ts";
import { type Entry, fieldsOf, isAssistant, isCustom, isMessage } from "../entry.ts";
import { readWhole } from "../reading/whole.ts";
import type { ByteSource } from "../reading/source.ts";
import type { Committed, LogRef, Position, SessionStore, Unstamped } from "../store.ts";
import type { Right } from "../types.ts";

export interface Mark {
  readonly kind: "closed" | "opened";
  /** Of `closed`: why. */
  readonly reason: string;
  readonly atMs: number;
}

/** An approval that was asked for and not answered. */
export interface OpenApproval {
  readonly key: string;
  readonly digest: unknown;
}

export interface LogState {
  readonly leaf: string | null;
  readonly version: number;
  readonly mark: Mark | null;
  readonly openCalls: readonly OpenCall[];
  readonly openApprovals: readonly OpenApproval[];
}

/** The mark that an entry is, or undefined. */
export function markOf(entry: Entry): Mark | undefined {
  const isClosed = isCustom(entry, "holdfast:closed");
  if (!isClosed && !isCustom(entry, "holdfast:opened")) return undefined;
  const data = fieldsOf(entry).data;
  const reason = isObject(data) && typeof data.reason === "string" ? data.reason : "";
  return { kind: isClosed ? "closed" : "opened", reason, atMs: Date.parse(entry.timestamp) || 0 };
}

/** Reads the whole log, streaming. */
export async function stateOf(source: ByteSource): Promise<LogState> {
  const calls = new CallLedger();
  const approvals = new Map<string, OpenApproval>();
  const last: { mark: Mark | null } = { mark: null };
  const whole = await readWhole(source, (entry, index, tree) => {
    if (mayBeOpen(entry)) calls.take(entry, index, tree);
    noteApproval(approvals, entry);
    last.mark = markOf(entry) ?? last.mark;
  });
  return {
    leaf: whole.tree.nodes[whole.leaf]?.id ?? null,
    version: whole.header.version,
    mark: last.mark,
    openCalls: calls.open(),
    openApprovals: [...approvals.values()],
  };
}

/** Dangling calls of other programs, and those of an answer that broke off, are nobody's work. */
export function mayBeOpen(entry: Entry): boolean {
  if (!isMessage(entry) || !isAssistant(entry.message)) return true;
  const { stopReason } = entry.message;
  return entry.g !== undefined && stopReason !== "error" && stopReason !== "aborted";
}

function noteApproval(open: Map<string, OpenApproval>, entry: Entry): void {
  const data = isCustom(entry, "holdfast:approval") ? entry.data : undefined;
  if (!isObject(data) || typeof data.key !== "string") return;
  if (data.answered === undefined || data.answered === null) open.set(data.key, { key: data.key, digest: data.digest });
  else open.delete(data.key);
}

/** Writes state at the leaf, as one chain; compare-and-set on the position that was read. */
export async function commitMarks(
  { store, world }: { readonly store: SessionStore; readonly world: World },
  at: {
    readonly log: LogRef;
    readonly expect: Position;
    readonly leaf: string | null;
    readonly right?: Right;
    readonly sync: boolean;
  },
  marks: readonly { readonly customType: string; readonly data: object }[],
): Promise<Committed> {
  const timestamp = new Date(world.nowMs()).toISOString();
  let parentId = at.leaf;
  const entries = marks.map(({ customType, data }): Unstamped => {
    const entry = { type: "custom", customType, data, id: world.newId("entry"), parentId, timestamp };
    parentId = entry.id;
    return entry;
  });
  const { log, expect, right, sync } = at;
  return store.commit({ log, expect, entries, sync, ...(right === undefined ? {} : { right }) });
}
