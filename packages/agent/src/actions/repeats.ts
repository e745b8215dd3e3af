/**
 * A model that reads "unknown" likes to try again. The same call is not made again within the turn that could not tell, nor
 * right after the turn that found it done; a person's next message, or other work in between, makes it a new act. So does
 * asking twice in one answer: that was meant before anything was interrupted.
 */
import { digest } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import { type AnswerEntry, callsOf, isAnswer, isResult, type ResultEntry, recoveredVerdict } from "../entries.ts";
import type { OpenCall } from "../next-step.ts";

/** What the model reads instead, or null when the call may be made. `log`: the entries since the message's turn began. */
export function repeatRefusal({ answer, call, log }: OpenCall & { readonly log: readonly Entry[] }): string | null {
  const wanted = digest([call.name, call.arguments]);
  const answers = new Map(log.filter(isAnswer).map((entry) => [entry.id, entry]));
  const results = log.filter(isResult);
  for (const [index, result] of results.entries()) {
    const verdict = recoveredVerdict(result);
    if (result.call?.entryId === answer.id) continue;
    if (verdict === undefined || actOf(result, answers) !== wanted) continue;
    if (verdict === "unknown" || verdict === "conflict") {
      return "Not run: the same call was interrupted before and its outcome is not settled (see its result). Check by reading, or ask the person; their next message may repeat it.";
    }
    const workedSince = results.slice(index + 1).some((later) => recoveredVerdict(later) === undefined);
    if (verdict === "happened" && !workedSince)
      return "Not run: the same call has happened already (see its recovered result).";
  }
  return null;
}

function actOf(result: ResultEntry, answers: ReadonlyMap<string, AnswerEntry>): string | undefined {
  const answer = result.call === undefined ? undefined : answers.get(result.call.entryId);
  const call = answer === undefined ? undefined : callsOf(answer)[result.call?.ordinal ?? 0];
  return call === undefined ? undefined : digest([call.name, call.arguments]);
}
