/**
 * The visible end of a message that got no answer: an entry that says so, queued to the sender like any reply.
 * Invariant: an accepted message is answered or visibly failed, and no call stays open behind a failure.
 */
import { LIMITS } from "@holdfast/base";
import type { ContentBlock, Entry, NewEntry } from "@holdfast/sessions";
import { NO_USAGE } from "./ask.ts";
import { type AnswerEntry, customsOf, isUser } from "./entries.ts";
import { hear } from "./hear.ts";
import { splitName } from "./model/answers.ts";
import { answeredBy, nextStep, openCalls } from "./next-step.ts";
import { perform } from "./perform.ts";
import type { Joining, ModelFailure, ModelFailureCode, TurnOutcome } from "./types.ts";
import { append, sinceStart, type Work } from "./work.ts";

type StopCode =
  | "turn_steps_max"
  | "turn_loop"
  | "spend_limit"
  | "turn_timeout"
  | "model_failed"
  | "attempts_used"
  | "stopped";

/** What to do about each, after the sentence that says what happened. */
const HELP: Readonly<Record<ModelFailureCode, string>> = {
  rate_limited: "Wait a little and send the message again, or raise the limit of the account.",
  overloaded: "Wait a little and send the message again.",
  timeout: "Send the message again; if it happens often, choose a faster model.",
  connection: "Check that it runs and can be reached, and baseUrl under models.providers in holdfast.json.",
  auth: "Check the provider's apiKey under models.providers in holdfast.json.",
  billing: "Check the balance and the spending limit of the account.",
  bad_request: "Check the model's name in holdfast.json, and that the provider supports what is asked for.",
  context_overflow: "Start a new conversation, or choose a model with a larger window.",
  content_filter: "Put the request differently.",
  bad_answer: "Send the message again; if it happens often, check that the server speaks the api it is configured for.",
  not_set_up: "Mend that in holdfast.json, then start the gateway again.",
  unknown: "Send the message again, or choose another model in holdfast.json.",
};

export const STEPS_TEXT = `I stopped after ${LIMITS.turnStepsMax} steps without finishing. What was done is on record above; say "continue" to go on.`;

/** What happened, then what to do. */
export function failureText(failure: Pick<ModelFailure, "code" | "message">): string {
  return `${failure.message}\n${HELP[failure.code]}`;
}

/** Why and how a message ended without an answer. */
export interface Stop {
  readonly code: StopCode;
  readonly text: string;
  /** What was the matter with the model, where that was it. */
  readonly failure?: ModelFailureCode;
  /** What the model had said when it was stopped. */
  readonly partial?: readonly ContentBlock[];
}

/** Why no further attempt is made, with the last failure of the model where there was one. */
export async function usedUp(work: Work): Promise<Stop> {
  const last = customsOf(await sinceStart(work), "holdfast:attempt").at(-1);
  const given =
    "I gave up on this message after several attempts. What was done so far is on record; send it again to go on.";
  if (typeof last?.code !== "string" || !(last.code in HELP)) return { code: "attempts_used", text: given };
  const failure = last.code as ModelFailureCode;
  const text = `${failureText({ code: failure, message: String(last.message) })}\n${given}`;
  return { code: "attempts_used", text, failure };
}

/** Writes the failure under the message, closing what is open, and queues its text to the sender. */
export async function stopVisibly(work: Work, stop: Stop): Promise<TurnOutcome> {
  const log = await sinceStart(work);
  const heard = heardOf(work, log);
  if (heard.length === 0) {
    const done = await hear(work, [work.item.message.key]);
    return done.kind === "busy" ? busy(done.by) : stopVisibly(work, stop);
  }
  const closing = stop.code === "stopped" ? STOPPED : "the work on this message was given up.";
  for (const open of openCalls(log)) {
    const done = await perform(work, open, { log, closing });
    if (done.kind === "busy") return busy(done.by);
  }
  await append(work, [failureEntry(work, heard, stop)]);
  const next = nextStep(await sinceStart(work), work.item.message);
  if (next.kind !== "failed") throw new Error("a failure that was just written is not found");
  return stoppedBefore(work, next.entry);
}

const STOPPED = "the person stopped the work before it was begun.";

/** The user entries of this turn's messages. */
function heardOf({ item, joined }: Work, log: readonly Entry[]): readonly string[] {
  const keys = new Set([item, ...joined].map(({ message }) => message.key));
  return log.flatMap((entry) => (isUser(entry) && keys.has(entry.message.key ?? "") ? [entry.id] : []));
}

/** A person's stop, or a newer message's: on record, with what the model had said so far; nothing is sent. */
export function stopByPerson(work: Work, partial: readonly ContentBlock[]): Promise<TurnOutcome> {
  return stopVisibly(work, { code: "stopped", text: "", partial });
}

/** The time of the message is over. */
export function stopLate(work: Work, seconds: unknown): Promise<TurnOutcome> {
  const text = `I stopped: this took longer than ${String(seconds)} s (agents.defaults.timeout). What was done is on record; send it again to go on.`;
  return stopVisibly(work, { code: "turn_timeout", text });
}

/** A failure that is in the log already: only its reply may be missing. */
export async function stoppedBefore(work: Work, entry: AnswerEntry): Promise<TurnOutcome> {
  const { agent, item } = work;
  const code = CODES.find((each) => each === entry.stopped) ?? "model_failed";
  const silent = code === "stopped";
  const text = silent ? "" : (entry.message.errorMessage ?? "The message could not be answered.");
  const because = failureIn(entry);
  const joined = await joinedIn(work, entry);
  await agent.finish(item, { entryId: entry.id, text, failed: true, silent, joined, ...because });
  return { kind: "stopped", code, entryId: entry.id, text, ...because };
}

function failureIn({ failure }: AnswerEntry & { readonly failure?: unknown }): { readonly failure?: ModelFailureCode } {
  return typeof failure === "string" && Object.hasOwn(HELP, failure) ? { failure: failure as ModelFailureCode } : {};
}

const CODES: readonly StopCode[] = [
  "turn_steps_max",
  "turn_loop",
  "spend_limit",
  "turn_timeout",
  "attempts_used",
  "stopped",
];

/** The joined items whose messages this entry answers. */
export async function joinedIn(work: Work, entry: AnswerEntry): Promise<readonly Joining[]> {
  const messages = work.joined.map((item) => ({ key: item.message.key, item }));
  return answeredBy(await sinceStart(work), entry, messages).map(({ item }) => item);
}

function failureEntry({ agent }: Work, answers: readonly string[], stop: Stop): NewEntry {
  const { code, text, failure, partial = [] } = stop;
  const message = {
    role: "assistant",
    content: partial,
    ...splitName(agent.model.name),
    api: "none",
    usage: NO_USAGE,
    stopReason: code === "stopped" ? "aborted" : "error",
    errorMessage: code === "stopped" ? "Stopped." : text,
    timestamp: agent.world.nowMs(),
  };
  return { type: "message", message, answers, stopped: code, ...(failure === undefined ? {} : { failure }) };
}

export function busy(by: string): TurnOutcome {
  return { kind: "busy", by, delayMs: LIMITS.busyDelayMs };
}

/**
 * Notes a failed attempt (state, never in the context) and says when to try again; fails visibly where that is too far
 * away, since everything else in the conversation would wait as long.
 */
export async function noteAttempt(work: Work, failure: ModelFailure): Promise<TurnOutcome> {
  const { agent, item } = work;
  const doubled = Math.min(LIMITS.busyDelayMs * 2 ** (item.attempt - 1), LIMITS.busyDelayMaxMs);
  const waitMs = failure.retryAfterMs ?? doubled;
  const tookMs = Math.round(agent.world.monotonicMs() - work.startedMs);
  const timeoutMs = agent.timeoutMs ?? Number.POSITIVE_INFINITY;
  const tooFar = waitMs > LIMITS.retryAfterMaxMs || (await spentMs(work)) + tookMs + waitMs > timeoutMs;
  const { code, message } = failure;
  if (tooFar) {
    const text = `${failureText(failure)}\n${againText(work, waitMs)}`;
    return stopVisibly(work, { code: "model_failed", text, failure: code });
  }
  const data = { item: item.id, attempt: item.attempt, code, message, tookMs, waitMs };
  await append(work, [{ type: "custom", customType: "holdfast:attempt", data }]);
  return { kind: "retry", failure, delayMs: waitMs };
}

/** What this item's earlier attempts took, their waits included. Time in which no gateway ran does not count. */
async function spentMs(work: Work): Promise<number> {
  const earlier = customsOf(await sinceStart(work), "holdfast:attempt").filter(({ item }) => item === work.item.id);
  const numbers = earlier.flatMap(({ tookMs, waitMs }) => [tookMs, waitMs]);
  return numbers.reduce<number>((total, ms) => total + (typeof ms === "number" ? ms : 0), 0);
}

function againText({ agent }: Work, waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000);
  const at = new Date(agent.world.nowMs() + waitMs).toISOString();
  return `I do not wait that long: it may be asked again in ${seconds} s, at ${at}.`;
}
