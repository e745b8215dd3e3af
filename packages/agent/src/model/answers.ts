/**
 * What all models share: how an answer is made, streamed and cut short, and which failures another attempt may cure.
 * Invariant: an aborted answer holds only what was shown, and never a tool call; otherwise a cut call could be run.
 */
import type { World } from "@holdfast/base";
import type { ContentBlock, EntryMessage, ToolCallBlock } from "@holdfast/sessions";
import type { ModelAnswer, ModelDelta, ModelFailure, ModelFailureCode } from "../types.ts";

/** Whether asking the same model the same question again may help. */
const RETRYABLE: Readonly<Record<ModelFailureCode, boolean>> = {
  rate_limited: true,
  overloaded: true,
  timeout: true,
  connection: true,
  auth: false,
  billing: false,
  bad_request: false,
  context_overflow: false,
  content_filter: false,
  bad_answer: true,
  not_set_up: false,
  unknown: false,
};

/** A failure of the given code; `message` is for people and must hold no secret. */
export function modelFailure(
  code: ModelFailureCode,
  message: string,
  more: { readonly status?: number | null; readonly retryAfterMs?: number | null } = {},
): ModelFailure {
  const { status = null, retryAfterMs = null } = more;
  return { code, message, status, retryAfterMs, retryable: RETRYABLE[code] };
}

/**
 * A call whose arguments the model wrote as something other than a JSON object. `arguments` is then `{}` (never a guess
 * at what was meant) and `argumentsError` says what is wrong; the field's name is Pi's. Such a call is answered with an
 * error result and never run.
 */
export type InvalidToolCall = ToolCallBlock & { readonly argumentsError: string };

/** What is wrong with a call's arguments, or null when they are what the model wrote. */
export function argumentsErrorOf(block: ToolCallBlock): string | null {
  if (!("argumentsError" in block)) return null;
  return typeof block.argumentsError === "string" ? block.argumentsError : "The arguments are not a JSON object.";
}

/** Splits a `provider/model` name; the model part may hold further slashes. */
export function splitName(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { provider: name, model: "" } : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

export interface Pace {
  /** Code points per delta; the whole text at once when left out. */
  readonly pieceChars?: number;
  /** Pause before each delta after the first; needs `world`. */
  readonly pauseMs?: number;
  readonly world?: World;
}
export interface AskOptions {
  readonly signal: AbortSignal;
  readonly onDelta: (delta: ModelDelta) => void;
}

/**
 * Streams the blocks at the given pace and resolves with those that were shown: all of them, or, when the signal aborted
 * on the way, the text so far and no call.
 */
export async function streamBlocks(
  blocks: readonly ContentBlock[],
  pace: Pace,
  { signal, onDelta }: AskOptions,
): Promise<{ readonly shown: readonly ContentBlock[]; readonly aborted: boolean }> {
  const shown: ContentBlock[] = [];
  const cut = (): { shown: readonly ContentBlock[]; aborted: true } => ({
    shown: shown.filter((block) => block.type !== "toolCall"),
    aborted: true,
  });
  for (const block of blocks) {
    if (signal.aborted) return cut();
    if (block.type !== "text") {
      if (block.type === "toolCall") onDelta({ kind: "call", name: block.name });
      shown.push(block);
      continue;
    }
    const text = await streamText(block.text, pace, { signal, onDelta });
    if (text !== "" || block.text === "") shown.push({ type: "text", text });
  }
  return signal.aborted ? cut() : { shown, aborted: false };
}

async function streamText(text: string, pace: Pace, { signal, onDelta }: AskOptions): Promise<string> {
  const points = [...text];
  const size = pace.pieceChars ?? Math.max(points.length, 1);
  let shown = "";
  for (let from = 0; from < points.length; from += size) {
    if (from > 0 && !(await pause(pace, signal))) break;
    const piece = points.slice(from, from + size).join("");
    shown += piece;
    onDelta({ kind: "text", text: piece });
  }
  return shown;
}

/** False when the signal aborted meanwhile. */
async function pause({ pauseMs, world }: Pace, signal: AbortSignal): Promise<boolean> {
  if (pauseMs === undefined || world === undefined) return !signal.aborted;
  try {
    await world.sleep(pauseMs, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** A whole answer; `stop` follows from the blocks. */
export function finishedAnswer(by: ModelAnswer["by"], content: readonly ContentBlock[]): ModelAnswer {
  const stop = content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
  return { content, stop, failure: null, usage: null, by };
}

export function abortedAnswer(by: ModelAnswer["by"], content: readonly ContentBlock[]): ModelAnswer {
  const kept = content.filter((block) => block.type !== "toolCall");
  return { content: kept, stop: "aborted", failure: null, usage: null, by };
}

/** A failed answer keeps what was shown before the failure, but no call: it may be half of one. */
export function failedAnswer(
  by: ModelAnswer["by"],
  failure: ModelFailure,
  content: readonly ContentBlock[] = [],
): ModelAnswer {
  const kept = content.filter((block) => block.type !== "toolCall");
  return { content: kept, stop: "failed", failure, usage: null, by };
}

/** How many calls the messages hold: the next call's number, less one. */
export function callsIn(messages: readonly EntryMessage[]): number {
  let calls = 0;
  for (const message of messages) {
    if (message.role !== "assistant" || !Array.isArray(message.content)) continue;
    calls += message.content.filter((block) => block.type === "toolCall").length;
  }
  return calls;
}
