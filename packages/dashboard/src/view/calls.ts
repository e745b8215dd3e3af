/**
 * Tool calls of a path with what became of each: result, verdict, evidence, attempts.
 * Invariant: a call without a result is never shown as done.
 */
import type { Entry } from "../live/path.ts";
import {
  dataOf,
  isRecord,
  resultOf,
  textOf,
  timeOf,
  type ToolCallBlock,
  type ToolResultMessage,
} from "./read-entry.ts";

export const VERDICTS = ["happened", "not_started", "absent", "conflict", "unknown"] as const;
export type Verdict = (typeof VERDICTS)[number];
/** `waiting`: not begun, for a person's yes. `ok` and `failed` were recorded as they happened; a verdict was reached later, by evidence. */
export type CallState = "in_flight" | "waiting" | "open" | "ok" | "failed";

export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly state: CallState;
  /** What evidence said after the record had been cut off; null for a call with an ordinary result. */
  readonly verdict: Verdict | null;
  readonly evidence: unknown;
  readonly result: string | null;
  /** 0 when no intent is on record (reads have none). */
  readonly attempts: number;
  /** From intent to result; null when it means nothing. */
  readonly tookMs: number | null;
}

export interface CallBook {
  callOf(entry: Entry, block: ToolCallBlock, ordinal: number): Call;
}

interface Found {
  readonly message: ToolResultMessage;
  readonly at: number | null;
}
interface Intents {
  readonly count: number;
  readonly lastAt: number | null;
}

/** Reads the whole path once; then each call is a look-up. */
export function collectCalls(entries: readonly Entry[], running: boolean): CallBook {
  const results = new Map<string, Found>();
  const intents = new Map<string, Intents>();
  const asked = new Set<string>();
  for (const entry of entries) {
    const message = resultOf(entry);
    if (message) results.set(resultName(entry, message), { message, at: timeOf(entry) });
    const intent = dataOf(entry, "holdfast:intent");
    if (intent) noteIntent(intents, entry, intent);
    const approval = dataOf(entry, "holdfast:approval");
    if (approval?.event === "asked") asked.add(nameIn(approval));
  }
  return {
    callOf: (entry, block, ordinal) => {
      const name = `${entry.id}/${ordinal}`;
      const found = results.get(name) ?? results.get(block.id) ?? null;
      const call = callFrom(block, found, intents.get(name) ?? null, running);
      return call.state === "open" && call.attempts === 0 && asked.has(name) ? { ...call, state: "waiting" } : call;
    },
  };
}

/** Our results name their call exactly; those of other programs only by the provider's id. */
function resultName(entry: Entry, message: ToolResultMessage): string {
  return entry.call ? `${entry.call.entryId}/${entry.call.ordinal}` : message.toolCallId;
}

/** The call that one of our state entries is about. */
function nameIn(data: Readonly<Record<string, unknown>>): string {
  return `${String(data.entryId)}/${String(data.ordinal)}`;
}

function noteIntent(intents: Map<string, Intents>, entry: Entry, intent: Readonly<Record<string, unknown>>): void {
  const name = nameIn(intent);
  intents.set(name, { count: (intents.get(name)?.count ?? 0) + 1, lastAt: timeOf(entry) });
}

function callFrom(block: ToolCallBlock, found: Found | null, intents: Intents | null, running: boolean): Call {
  const recovered = found ? recoveryOf(found.message) : null;
  const times = found?.at != null && intents?.lastAt != null && recovered === null;
  return {
    tool: block.name,
    arguments: isRecord(block.arguments) ? block.arguments : {},
    state: stateOf(found, running),
    verdict: recovered?.verdict ?? null,
    evidence: recovered?.evidence ?? null,
    result: found ? textOf(found.message.content) : null,
    attempts: intents?.count ?? 0,
    tookMs: times ? Math.max(0, found.at - intents.lastAt) : null,
  };
}

function stateOf(found: Found | null, running: boolean): CallState {
  if (found === null) return running ? "in_flight" : "open";
  return found.message.isError ? "failed" : "ok";
}

function recoveryOf(message: ToolResultMessage): { readonly verdict: Verdict; readonly evidence: unknown } | null {
  const mark = isRecord(message.details) ? message.details.holdfast : null;
  if (!isRecord(mark)) return null;
  const verdict = VERDICTS.find((known) => known === mark.verdict);
  return verdict ? { verdict, evidence: mark.evidence ?? null } : null;
}
