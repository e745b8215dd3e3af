/**
 * What is known about an action that has an intent and no result: the verdict table of docs/durability.md.
 *
 * Invariant: nothing is `happened` or `absent` by assumption. A probe of the world says so, or the verdict is `unknown`
 * and the text says what would settle it.
 */
import { assertNever, fill, type JsonObject, messageOf } from "@holdfast/base";
import type { Intent } from "./entries.ts";
import type { Effect, Probe, Tool, ToolContext, ToolOutcome, Verdict } from "./types.ts";

/** `repeat`: the call shall be made again under the same key. */
export interface Finding {
  readonly verdict: Verdict;
  readonly evidence: JsonObject;
  readonly repeat: boolean;
  /** What the result tells the model, when it is not repeated. */
  readonly outcome: ToolOutcome;
}
export type Settled = { readonly kind: "found"; readonly finding: Finding } | { readonly kind: "in_flight" };

const STRICTNESS: Readonly<Record<Effect, number>> = { none: 0, idempotent: 1, checkable: 2, opaque: 3 };

/** What repeating this call means; for arguments that the tool refuses by now, what it says of calls in general. */
export function effectOf(tool: Tool, args: JsonObject): Effect {
  return tool.check(args) === null ? (tool.effectOf?.(args) ?? tool.effect) : tool.effect;
}

/** A declaration may have changed since the intent; the stricter one counts. */
export function stricter(recorded: Effect, declared: Effect): Effect {
  return STRICTNESS[recorded] >= STRICTNESS[declared] ? recorded : declared;
}

export interface Asking {
  readonly homeId: string;
  readonly tool: Tool | undefined;
  readonly args: JsonObject;
  /** `attemptDirectory` is that of the intent's attempt. */
  readonly context: ToolContext;
}

/** Finds out. Changes nothing, except that a probe may make a late start impossible. Needs the action's lock. */
export async function settle(intent: Intent, { homeId, tool, args, context }: Asking): Promise<Settled> {
  if (intent.home !== homeId) {
    return unknown({ home: intent.home }, "It was started from another home; only that one can tell.");
  }
  if (tool === undefined) return unknown({}, `There is no tool "${intent.tool}" any more that could tell.`);
  const effect = stricter(intent.effect, effectOf(tool, args));
  if (effect === "none" || effect === "idempotent") return repeatable();
  if (effect === "opaque") {
    return unknown({}, "Nothing can tell whether it was done; look at the place it acts on.");
  }
  const first = await asked(tool, { args, intent, context });
  if (first.kind !== "in_flight") return found(first);
  await first.wait(context.signal);
  const second = await asked(tool, { args, intent, context });
  return second.kind === "in_flight" ? second : found(second);
}

/** A probe that fails cannot tell; were its error thrown, the message could neither be answered nor fail. */
async function asked(
  tool: Tool,
  { args, intent, context }: { readonly args: JsonObject; readonly intent: Intent; readonly context: ToolContext },
): Promise<Probe> {
  const cannotTell = (why: string): Probe => ({
    kind: "unknown",
    evidence: { probe: why },
    says: fill("Looking failed: {why}.", { why }),
  });
  try {
    return (await tool.probe?.(args, intent.evidence, context)) ?? cannotTell("there is no probe");
  } catch (error) {
    return cannotTell(messageOf(error));
  }
}

function found(probe: Exclude<Probe, { readonly kind: "in_flight" }>): Settled {
  switch (probe.kind) {
    case "happened":
      return finding("happened", probe.evidence, happenedText(probe.outcome));
    case "absent":
      return finding("absent", probe.evidence, recoveredText(probe.says, "It was not done."));
    case "conflict":
      return finding("conflict", probe.evidence, recoveredText(probe.says, "It was not repeated."));
    case "unknown":
      return unknown(probe.evidence, probe.says);
    default:
      return assertNever(probe);
  }
}

function finding(verdict: Verdict, evidence: JsonObject, outcome: ToolOutcome): Settled {
  return { kind: "found", finding: { verdict, evidence, outcome, repeat: verdict === "absent" } };
}

function unknown(evidence: JsonObject, says: string): Settled {
  return finding("unknown", evidence, recoveredText(says, "It was not repeated."));
}

function repeatable(): Settled {
  const outcome = recoveredText("Whether it was done is not known.", "Repeating it changes nothing.");
  return { kind: "found", finding: { verdict: "unknown", evidence: {}, outcome, repeat: true } };
}

/** `isError` of a recovered result says whether the effect is known to have happened, not how the command ended. */
function happenedText(outcome: ToolOutcome): ToolOutcome {
  const text = `[Recovered] The work was interrupted before this result was recorded. Checked afterwards: it happened.\n${outcome.text}`;
  return { ...outcome, text };
}

/** The text of a result whose effect is not known to have happened. */
export function recoveredText(says: string, then: string): ToolOutcome {
  const text = `[Recovered] The work was interrupted and the history lacks this result, which does not say that the action failed. ${says} ${then}`;
  return { ok: false, text };
}
