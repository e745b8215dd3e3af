/**
 * A conversation that begins with a copy of another one's path.
 *
 * The path is copied as it streams by; what belongs to the original (its rights, its numbers, who it is, its actions) is
 * left behind, and calls that are open at the fork point are closed: they belong to the session they were made in.
 * Invariant: the model sees the same messages in the copy as at the fork point, plus those closings.
 */
import type { OpenCall } from "./calls.ts";
import { type Entry, fieldsOf, isAssistant, isCompaction, isMessage, parseLine, toolCallsOf } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { afterEntry } from "./open-calls.ts";
import { CURRENT_VERSION } from "./reading/header.ts";
import { forward } from "./reading/lines.ts";
import type { ByteSource } from "./reading/source.ts";
import { type EntryRef, readWhole, type Whole } from "./reading/whole.ts";
import type { Unstamped } from "./store.ts";

export interface ForkPoint {
  /** The entry the copy ends with; left out: the leaf. */
  readonly entryId?: string | undefined;
  /** Go back to the end of the last turn that came to its end: no question without its answer. */
  readonly wholeTurns?: boolean | undefined;
}

/** What is copied of a log, and how to read it. */
export interface ForkPlan {
  /** The last entry of the copied path; null: nothing is. */
  readonly from: string | null;
  readonly path: readonly EntryRef[];
  readonly openCalls: readonly OpenCall[];
  /** Ids on the path that stay behind. */
  readonly behind: ReadonlySet<string>;
  readonly whole: Whole;
}

/** Reads the whole log, streaming. Throws `entry_missing`. */
export async function planFork(source: ByteSource, session: string, point: ForkPoint): Promise<ForkPlan> {
  const calling = new Set<number>();
  const ends = new Set<number>();
  const behind = new Set<string>();
  const whole = await readWhole(source, (entry, index) => {
    if (isOfTheOriginal(entry)) behind.add(entry.id);
    if (!isMessage(entry)) return;
    const isCalling = toolCallsOf(entry.message).length > 0 || entry.message.role === "toolResult";
    if (isCalling) calling.add(index);
    else if (isAssistant(entry.message)) ends.add(index);
  });
  const { tree } = whole;
  let end = point.entryId === undefined ? whole.leaf : tree.indexOf(point.entryId);
  if (end === -1 && point.entryId !== undefined) {
    throw new SessionError("entry_missing", { entry: point.entryId, session });
  }
  while (point.wholeTurns === true && end !== -1 && !ends.has(end)) end = tree.parentOf(end);
  const path = tree.pathTo(end);
  let openCalls: readonly OpenCall[] = [];
  for (const ref of path) {
    if (calling.has(tree.indexOf(ref.id))) openCalls = afterEntry(openCalls, await whole.read(ref), true);
  }
  return { from: path.at(-1)?.id ?? null, path, openCalls, behind, whole };
}

/** Book-keeping of the original: which session it is, its turns, moves, actions and approvals. */
function isOfTheOriginal(entry: Entry): boolean {
  return entry.type === "custom" && String(fieldsOf(entry).customType).startsWith("holdfast:");
}

export interface ForkText {
  /** `holdfast:session` of the copy; its first entry. */
  readonly about: Unstamped;
  /** Id of the session that was copied. */
  readonly session: string;
  readonly nowMs: number;
  newId(): string;
}

/** The entries of the copy, in order, as one chain below `about`. Reads the path once more, from the first to the last. */
export async function* copyOf(source: ByteSource, plan: ForkPlan, text: ForkText): AsyncGenerator<Unstamped> {
  yield text.about;
  let parentId = text.about.id;
  const onPath = new Set(plan.path.map((ref) => ref.id));
  for await (const entry of entriesOf(source, plan)) {
    const { targetId } = fieldsOf(entry);
    const isLost = entry.type === "label" && !(typeof targetId === "string" && onPath.has(targetId));
    if (plan.behind.has(entry.id) || isLost) continue;
    yield { ...unmarked(entry), ...keptIn(entry, plan), parentId };
    parentId = entry.id;
  }
  for (const call of plan.openCalls) {
    const closing = closingOf(call, text, parentId);
    yield closing;
    parentId = closing.id;
  }
}

async function* entriesOf(source: ByteSource, { path, whole }: ForkPlan): AsyncGenerator<Entry> {
  const wanted = new Map(path.map((ref) => [ref.offset, ref]));
  for await (const line of forward(source)) {
    const ref = wanted.get(line.offset);
    if (ref === undefined || line.bytes === null) continue;
    const parsed = whole.header.version < CURRENT_VERSION ? undefined : parseLine(line.bytes);
    yield parsed?.kind === "entry" ? parsed.entry : await whole.read(ref);
  }
}

/** Without the numbers of its writer and turn, and without a way back that leads nowhere here. */
function unmarked(entry: Entry): Unstamped {
  const { g: _g, t: _t, returnTo: _returnTo, ...rest } = entry;
  return rest as Unstamped;
}

/** A compaction that keeps from an entry that stays behind keeps from the next one that does not. */
function keptIn(entry: Entry, { path, behind }: ForkPlan): { readonly firstKeptEntryId?: string } {
  if (!isCompaction(entry) || !behind.has(entry.firstKeptEntryId)) return {};
  const from = path.findIndex((ref) => ref.id === entry.firstKeptEntryId);
  const kept = path.slice(from).find((ref) => !behind.has(ref.id));
  return from === -1 || kept === undefined ? {} : { firstKeptEntryId: kept.id };
}

function closingOf({ entryId, ordinal, toolCallId, name }: OpenCall, text: ForkText, parentId: string): Unstamped {
  const message = {
    role: "toolResult",
    toolCallId,
    toolName: name,
    content: [{ type: "text", text: `Not run here; this call belongs to session ${text.session}.` }],
    isError: true,
    details: { holdfast: { verdict: "elsewhere", session: text.session, synthetic: true } },
    timestamp: text.nowMs,
  };
  const timestamp = new Date(text.nowMs).toISOString();
  return { type: "message", call: { entryId, ordinal }, message, id: text.newId(), parentId, timestamp };
}
