/**
 * What others did to a log since we last looked. Pure; about entries only: that a file was rewritten, moved or removed
 * is seen by the store.
 * Invariant: the gravest finding wins, so that a writer is never told "harmless" about a change that concerns it.
 */
import { type Entry, fieldsOf, isAssistant, isCustom, isMessage } from "./entry.ts";
import type { Change } from "./types.ts";

/** What of it can be told from entries. */
export type EntryChange = Exclude<Change, "moved" | "rewritten">;

export interface Known {
  /** Our leaf before the change; null in an empty log. */
  readonly leaf: string | null;
  /** The number of our turn right; null when we work under none. */
  readonly t: number | null;
}

const GRAVITY: readonly EntryChange[] = ["none", "harmless", "turn", "compacted", "branch", "stale_turn", "gone"];

/**
 * Classifies entries that others added, in file order. `leaf` is where the log stands after them. What was added off
 * the new path concerns nobody here, except that a log was put away or a newer turn began.
 */
export function classify(known: Known, added: readonly Entry[], leaf: string | null): EntryChange {
  if (added.length === 0) return "none";
  const { onPath, top } = climb(added, leaf);
  const found = added.map((entry) =>
    graver(anywhere(entry, known), onPath.has(entry.id) ? onPathChange(entry) : "none"),
  );
  return found.reduce(graver, top === known.leaf ? "harmless" : "branch");
}

/** From the new leaf upwards through what was added: those ids, and the first above them. */
function climb(
  added: readonly Entry[],
  leaf: string | null,
): { readonly onPath: ReadonlySet<string>; readonly top: string | null } {
  const fresh = new Map(added.map((entry) => [entry.id, entry]));
  const onPath = new Set<string>();
  let top = leaf;
  for (let entry = fresh.get(top ?? ""); entry !== undefined && !onPath.has(entry.id); entry = fresh.get(top ?? "")) {
    onPath.add(entry.id);
    top = entry.parentId;
  }
  return { onPath, top };
}

function graver(a: EntryChange, b: EntryChange): EntryChange {
  return GRAVITY.indexOf(a) >= GRAVITY.indexOf(b) ? a : b;
}

/** What counts wherever it stands: the log was put away, or a newer turn began. */
function anywhere(entry: Entry, known: Known): EntryChange {
  if (isCustom(entry, "holdfast:closed")) return "gone";
  if (!isCustom(entry, "holdfast:turn") || known.t === null) return "harmless";
  const t = turnOf(entry);
  return t !== null && t > known.t ? "stale_turn" : "harmless";
}

function turnOf(entry: Entry): number | null {
  const { data, t } = fieldsOf(entry);
  const inData = (data as { readonly t?: unknown } | null | undefined)?.t;
  const found = inData ?? t;
  return typeof found === "number" ? found : null;
}

/** Types that enter the context; the rest, unknown ones included, is state. */
const CONTEXT_TYPES = ["message", "custom_message", "branch_summary", "context_edit"];

function onPathChange(entry: Entry): EntryChange {
  if (entry.type === "compaction") return "compacted";
  return CONTEXT_TYPES.includes(entry.type) && !isNotice(entry) ? "turn" : "harmless";
}

/** Assistant rows that only people see: mirrored replies, injected notices, the acknowledgement of a heartbeat. */
function isNotice(entry: Entry): boolean {
  if (!isMessage(entry) || !isAssistant(entry.message)) return false;
  const { provider, model, content } = entry.message;
  if (provider === "openclaw" && (model === "delivery-mirror" || model === "gateway-injected")) return true;
  const [block, ...more] = Array.isArray(content) ? content : [];
  return block?.type === "text" && more.length === 0 && /^\W*HEARTBEAT_OK\W*$/.test(block.text);
}
