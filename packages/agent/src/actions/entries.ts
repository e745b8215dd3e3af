/**
 * The lines an action leaves in the transcript: intent, verdict, result. Pure.
 * Invariant: a result made on the way again is marked as such (`details.holdfast`), and is an error unless it happened.
 */
import { type JsonObject, LIMITS } from "@holdfast/base";
import type { NewEntry } from "@holdfast/sessions";
import type { OpenCall } from "../next-step.ts";
import type { Finding } from "../settle.ts";
import type { Agent, Effect, Tool, ToolOutcome } from "../types.ts";

/** `holdfast:intent`: the effect is about to start. `resultId` is one for all attempts. */
export function intentEntry(
  home: Agent["home"],
  { answer, ordinal, key }: OpenCall & { readonly key: string },
  made: {
    readonly tool: Tool;
    readonly effect: Effect;
    readonly resultId: string;
    readonly attempt: number;
    readonly evidence: JsonObject;
  },
): NewEntry {
  const { tool, effect, resultId, attempt, evidence } = made;
  const data = {
    home: home.id,
    boot: home.boot,
    fsync: home.fsync,
    entryId: answer.id,
    ordinal,
    tool: tool.spec.name,
    effect,
    key,
    resultId,
    attempt,
    evidence,
  };
  return { type: "custom", customType: "holdfast:intent", data };
}

/** `holdfast:verdict`: what was found about an action, and on which evidence. */
export function verdictEntry(key: string, { verdict, evidence }: Pick<Finding, "verdict" | "evidence">): NewEntry {
  return { type: "custom", customType: "holdfast:verdict", data: { key, verdict, evidence, by: "probe" } };
}

export function resultEntry(
  { answer, ordinal, call }: OpenCall,
  made: {
    readonly id: string;
    readonly outcome: ToolOutcome;
    readonly nowMs: number;
    /** Set when the result was found out afterwards. */
    readonly finding?: Finding;
  },
): NewEntry {
  const { id, outcome, nowMs, finding } = made;
  const recovered =
    finding === undefined
      ? {}
      : { holdfast: { verdict: finding.verdict, evidence: finding.evidence, synthetic: true } };
  const details = { ...outcome.details, ...recovered };
  return {
    type: "message",
    id,
    message: {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text: shown(outcome.text) }],
      ...(Object.keys(details).length === 0 ? {} : { details }),
      isError: !outcome.ok || (finding !== undefined && finding.verdict !== "happened"),
      timestamp: nowMs,
    },
    call: { entryId: answer.id, ordinal },
  };
}

function shown(text: string): string {
  if (text.trim() === "") return "(no output)";
  if (text.length <= LIMITS.toolResultCharsMax) return text.toWellFormed();
  const left = text.length - LIMITS.toolResultCharsMax;
  return `${text.slice(0, LIMITS.toolResultCharsMax).toWellFormed()}\n(cut here: ${left} more characters)`;
}
