/**
 * What the transcript itself says about the write, read as plain JSON lines: no code that wrote them takes part.
 * Pure over the text of the file.
 */
import { isObject, tryParse } from "@holdfast/base";

type Line = Record<string, unknown>;

export interface Facts {
  readonly intents: number;
  /** Results of the retried write; the refused one before it is not counted. */
  readonly results: number;
  readonly verdict: string | null;
  readonly evidence: unknown;
  /** What the last result says; empty while there is none. */
  readonly result: string;
  /** Final answers, oldest first. */
  readonly answers: readonly string[];
}

function linesOf(text: string): readonly Line[] {
  return text.split("\n").map(tryParse).filter(isObject);
}

function messageOf(line: Line): Line | undefined {
  return line.type === "message" && isObject(line.message) ? line.message : undefined;
}

function blocksOf(message: Line): readonly Line[] {
  return Array.isArray(message.content) ? message.content.filter(isObject) : [];
}

function calls(message: Line, tool: string): boolean {
  return blocksOf(message).some((block) => block.type === "toolCall" && block.name === tool);
}

function customs(lines: readonly Line[], customType: string): readonly Line[] {
  const found = lines.filter((line) => line.type === "custom" && line.customType === customType);
  return found.map((line) => line.data).filter(isObject);
}

function answersOf(lines: readonly Line[]): readonly string[] {
  return lines.flatMap((line) => {
    const message = messageOf(line);
    if (message?.role !== "assistant") return [];
    const blocks = blocksOf(message);
    if (blocks.some((block) => block.type === "toolCall")) return [];
    const text = blocks
      .map((block) => (typeof block.text === "string" ? block.text : ""))
      .join("\n")
      .trim();
    return text === "" ? [] : [text];
  });
}

function textIn(line: Line | undefined): string {
  const message = line && messageOf(line);
  const texts = message ? blocksOf(message).map((block) => (typeof block.text === "string" ? block.text : "")) : [];
  return texts.join("\n").trim();
}

/** The facts about the last call of one tool in a transcript. */
export function factsOf(transcript: string, tool = "write"): Facts {
  const lines = linesOf(transcript);
  const asked = lines.findLast((line) => messageOf(line)?.role === "assistant" && calls(messageOf(line)!, tool));
  const intents = customs(lines, "holdfast:intent").filter((data) => data.entryId === asked?.id);
  const verdict = customs(lines, "holdfast:verdict").at(-1);
  const results = lines.filter((line) => isObject(line.call) && line.call.entryId === asked?.id);
  return {
    intents: intents.length,
    results: results.length,
    verdict: typeof verdict?.verdict === "string" ? verdict.verdict : null,
    evidence: verdict?.evidence ?? null,
    result: textIn(results.at(-1)),
    answers: answersOf(lines),
  };
}
