/**
 * The visible end of a message that got no answer: an entry that says so, queued to the sender like any reply.
 * Invariant: an accepted message is answered or visibly failed, and no call stays open behind a failure.
 */
import { LIMITS } from "@holdfast/base";
import type { NewEntry } from "@holdfast/sessions";
import { NO_USAGE } from "./ask.ts";
import { type AnswerEntry, customsOf, isUser } from "./entries.ts";
import { hear } from "./hear.ts";
import { splitName } from "./model/answers.ts";
import { openCalls } from "./next-step.ts";
import { perform } from "./perform.ts";
import type { ModelFailure, ModelFailureCode, TurnOutcome } from "./types.ts";
import { append, sinceStart, type Work } from "./work.ts";

type StopCode = "turn_steps_max" | "model_failed" | "attempts_used";

const HELP: Readonly<Record<ModelFailureCode, string>> = {
  rate_limited: "The provider limits how often it may be asked; wait a little and send the message again.",
  overloaded: "The provider is overloaded; wait a little and send the message again.",
  timeout: "The model did not answer in time; send the message again, or choose a faster model.",
  connection: "The model could not be reached; check the network and models.providers in holdfast.json.",
  auth: "The provider refused the key; check it under models.providers in holdfast.json.",
  billing: "The provider refuses for want of credit; check the account's billing.",
  bad_request: "The provider refused the request; see the message above, and check the model's name in holdfast.json.",
  context_overflow:
    "The conversation is too long for this model; start a new one or choose a model with a larger window.",
  content_filter: "The provider's content filter stopped the answer; put the request differently.",
  bad_answer: "The model's answer could not be used; send the message again.",
  unknown: "See the message above; send the message again, or choose another model in holdfast.json.",
};

export const STEPS_TEXT = `I stopped after ${LIMITS.turnStepsMax} steps without finishing. What was done is on record above; say "continue" to go on.`;

export function failureText(failure: Pick<ModelFailure, "code" | "message">): string {
  return `The model failed (${failure.code}): ${failure.message}\n${HELP[failure.code]}`;
}

/** Why no further attempt is made, with the last failure of the model where there was one. */
export async function usedUpText(work: Work): Promise<string> {
  const last = customsOf(await sinceStart(work), "holdfast:attempt").at(-1);
  const given =
    "I gave up on this message after several attempts. What was done so far is on record; send it again to go on.";
  if (typeof last?.code !== "string" || !(last.code in HELP)) return given;
  return `${given}\n${failureText({ code: last.code as ModelFailureCode, message: String(last.message) })}`;
}

/** Writes the failure under the message, closing what is open, and queues its text to the sender. */
export async function stopVisibly(work: Work, code: StopCode, text: string): Promise<TurnOutcome> {
  const log = await sinceStart(work);
  const heard = log.find((entry) => isUser(entry) && entry.message.key === work.item.message.key);
  if (heard === undefined) {
    const done = await hear(work);
    return done.kind === "busy" ? busy(done.by) : stopVisibly(work, code, text);
  }
  for (const open of openCalls(log)) {
    const done = await perform(work, open, { log, closing: "the work on this message was given up." });
    if (done.kind === "busy") return busy(done.by);
  }
  const appended = await append(work, [failureEntry(work, heard.id, { code, text })]);
  return finishStopped(work, { entryId: appended.entries[0]?.id ?? "", code, text });
}

/** A failure that is in the log already: only its reply may be missing. */
export function stoppedBefore(work: Work, entry: AnswerEntry): Promise<TurnOutcome> {
  const code = entry.stopped === "turn_steps_max" || entry.stopped === "attempts_used" ? entry.stopped : "model_failed";
  const text = entry.message.errorMessage ?? "The message could not be answered.";
  return finishStopped(work, { entryId: entry.id, code, text });
}

async function finishStopped(
  { agent, item }: Work,
  { entryId, code, text }: { readonly entryId: string; readonly code: StopCode; readonly text: string },
): Promise<TurnOutcome> {
  await agent.finish(item, { to: item.message.address, text, entryId });
  return { kind: "stopped", code, entryId, text };
}

function failureEntry(
  { agent }: Work,
  answers: string,
  { code, text }: { readonly code: StopCode; readonly text: string },
): NewEntry {
  const message = {
    role: "assistant",
    content: [],
    ...splitName(agent.model.name),
    api: "none",
    usage: NO_USAGE,
    stopReason: "error",
    errorMessage: text,
    timestamp: agent.world.nowMs(),
  };
  return { type: "message", message, answers: [answers], stopped: code };
}

export function busy(by: string): TurnOutcome {
  return { kind: "busy", by, delayMs: LIMITS.busyDelayMs };
}

/** Notes a failed attempt (state, never in the context) and says when to try again. */
export async function noteAttempt(work: Work, failure: ModelFailure): Promise<TurnOutcome> {
  const { code, message } = failure;
  const data = { item: work.item.id, attempt: work.item.attempt, code, message };
  await append(work, [{ type: "custom", customType: "holdfast:attempt", data }]);
  const doubled = LIMITS.busyDelayMs * 2 ** (work.item.attempt - 1);
  return { kind: "retry", failure, delayMs: failure.retryAfterMs ?? Math.min(doubled, LIMITS.busyDelayMaxMs) };
}
