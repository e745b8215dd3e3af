/**
 * Turns that go round in circles: the same call with the same result again and again, or a tool that only fails in one way.
 * Pure over the turn's log.
 *
 * Invariant: a call that gets something new is never held back, however often it is made.
 */
import { digest, isObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import { callsOf, isAnswer, isResult, type ResultEntry } from "./entries.ts";

/** So often a call may be made with one and the same result. */
const SAME_CALL_MAX = 6;
/** So often in a row a tool may fail in one and the same way, whatever it is called with. */
const SAME_ERROR_MAX = 8;
/** After so many calls that were held back the turn ends. */
const HELD_MAX = 3;

export const LOOP_TEXT =
  'I stopped: the same step was tried again and again without anything new. What was done is on record; say what I should do differently, or "continue".';

interface Made {
  readonly name: string;
  readonly digest: string;
  readonly result: ResultEntry;
}

/** Why this call is not made once more, or null. */
export function loopText(
  log: readonly Entry[],
  call: { readonly name: string; readonly args: unknown },
): string | null {
  const made = callsMade(log).filter(({ result }) => !isHeld(result));
  const same = made.filter((one) => one.digest === digest([call.name, call.args]));
  const times = sameFromEnd(same);
  if (times >= SAME_CALL_MAX)
    return `Not run: this call was made ${times} times for this message, the last ${times} with the same result. Do something else, or say what is in the way.`;
  const errors = sameFromEnd(made.filter(({ name }) => name === call.name));
  const last = made.findLast(({ name }) => name === call.name);
  if (errors >= SAME_ERROR_MAX && last?.result.message.isError === true)
    return `Not run: the last ${errors} calls of ${call.name} failed in the same way. Do something else, or say what is in the way.`;
  return null;
}

/** What marks a result as that of a call which was held back here. */
export const HELD = { holdfast: { held: "loop" } } as const;

/** So many calls were held back that nothing will come of it any more. */
export function isLooping(log: readonly Entry[]): boolean {
  return log.filter((entry) => isResult(entry) && isHeld(entry)).length >= HELD_MAX;
}

function isHeld({ message: { details } }: ResultEntry): boolean {
  return isObject(details) && isObject(details.holdfast) && details.holdfast.held === HELD.holdfast.held;
}

function sameFromEnd(made: readonly Made[]): number {
  const texts = made.map(({ result }) => JSON.stringify(result.message.content));
  const other = texts.findLastIndex((text) => text !== texts.at(-1));
  return texts.length - 1 - other;
}

/** Calls that have results, in the order of the results. */
function callsMade(log: readonly Entry[]): readonly Made[] {
  const known = new Map<string, { readonly name: string; readonly digest: string }>();
  for (const answer of log.filter(isAnswer))
    for (const [ordinal, { name, arguments: args }] of callsOf(answer).entries())
      known.set(`${answer.id}#${ordinal}`, { name, digest: digest([name, args]) });
  return log.filter(isResult).flatMap((result) => {
    const { call } = result as { readonly call?: unknown };
    const found = isObject(call) ? known.get(`${String(call.entryId)}#${String(call.ordinal)}`) : undefined;
    return found === undefined ? [] : [{ ...found, result }];
  });
}
