/**
 * A summary by a model: in stages where the part is larger than its window, each with what the one before wrote.
 *
 * Invariant: what comes back is checked. Empty, cut off, or not smaller than what it stands for is no summary.
 */
import { approximateTextTokens } from "@holdfast/sessions";
import type { Model } from "../../types.ts";
import { keptIdentifiers } from "./identifiers.ts";
import { SUMMARY_SYSTEM, shortened, summaryText } from "./prompt.ts";

export interface Summariser {
  readonly model: Model;
  /** Tokens of its window. */
  readonly window: number;
  readonly instructions: string | null;
  readonly signal: AbortSignal;
  readonly sessionId: string;
}

export interface ToSummarise {
  readonly earlier: string | null;
  /** Each message as text, oldest first. */
  readonly texts: readonly string[];
  readonly focus: string | null;
}

export type Summary =
  | { readonly kind: "summary"; readonly text: string; readonly stages: number }
  | { readonly kind: "failed"; readonly why: string };

/** Of the window: the part shown, and the text that comes back. What is counted is an estimate, so there is room left. */
const SHOWN = 0.6;
const WRITTEN = 0.2;
/** A part that is nearly all it stands for helps nobody. */
const SMALLER = 0.8;

export async function summarise(what: ToSummarise, by: Summariser): Promise<Summary> {
  const writtenMax = Math.floor(by.window * WRITTEN);
  const shown = Math.floor(by.window * SHOWN) - approximateTextTokens(SUMMARY_SYSTEM);
  const stages = stagesOf(what.texts, Math.max(500, shown - writtenMax));
  let earlier = what.earlier;
  for (const conversation of stages) {
    const said = await ask(
      summaryText({ earlier, conversation, focus: what.focus, instructions: by.instructions }),
      by,
    );
    if (said.kind === "failed") return said;
    const replaced = approximateTextTokens(conversation) + approximateTextTokens(earlier ?? "");
    const problem = problemOf(said.text, { replaced, writtenMax });
    if (problem !== null) return { kind: "failed", why: problem };
    earlier = keptIdentifiers(said.text, `${earlier ?? ""}\n${conversation}`);
  }
  return earlier === null
    ? { kind: "failed", why: "there was nothing to summarise" }
    : { kind: "summary", text: earlier, stages: stages.length };
}

/** Pieces that each fit; a message that is larger than that is shortened. */
function stagesOf(texts: readonly string[], tokensMax: number): readonly string[] {
  const stages: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const fitting = approximateTextTokens(text) <= tokensMax ? text : shortened(text, tokensMax);
    const tokens = approximateTextTokens(fitting) + 1;
    if (tokens > room) {
      stages.push([]);
      room = tokensMax;
    }
    stages.at(-1)?.push(fitting);
    room -= tokens;
  }
  return stages.map((stage) => stage.join("\n\n"));
}

async function ask(
  text: string,
  { model, signal, sessionId }: Summariser,
): Promise<{ readonly kind: "said"; readonly text: string } | { readonly kind: "failed"; readonly why: string }> {
  const request = {
    system: SUMMARY_SYSTEM,
    messages: [{ role: "user" as const, content: text.toWellFormed().replaceAll("\0", "\uFFFD") }],
    tools: [],
    sessionId,
  };
  const answer = await model.ask(request, { signal, onDelta() {} });
  if (answer.stop === "failed") return { kind: "failed", why: answer.failure?.message ?? "the model failed" };
  if (answer.stop === "aborted") return { kind: "failed", why: "it was stopped" };
  if (answer.stop === "length") return { kind: "failed", why: "the summary had no end" };
  const said = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { kind: "said", text: said.trim() };
}

function problemOf(
  text: string,
  { replaced, writtenMax }: { readonly replaced: number; readonly writtenMax: number },
): string | null {
  if (text === "") return "the summary was empty";
  const tokens = approximateTextTokens(text);
  if (tokens > writtenMax) return `the summary was too long (about ${tokens} tokens)`;
  // Of very little even a good summary is no smaller.
  return replaced > 400 && tokens > replaced * SMALLER
    ? "the summary was hardly smaller than what it stands for"
    : null;
}
