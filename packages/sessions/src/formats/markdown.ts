/**
 * A conversation as Markdown for people: the current branch, then the others.
 * Invariant: streams; what was said cannot end the block it stands in: fences are longer than any inside.
 */
import type { Entry } from "../entry.ts";
import { clockOf, type ForPeople, kindOf, layoutOf, type Part, partsOf, resultOf } from "./reader.ts";
import type { Survey } from "./survey.ts";
import { speakerOf, type Words, wordsIn } from "./words.ts";

export async function* markdownOf(survey: Survey, { title, language }: ForPeople): AsyncGenerator<string> {
  const words = wordsIn(language);
  const layout = layoutOf(survey);
  yield `# ${oneLine(title ?? survey.name ?? words.untitled)}\n`;
  for (const [number, section] of layout.sections.entries()) {
    if (number > 0) yield `\n---\n\n## ${words.branch} ${number}\n`;
    if (number > 0) yield `\n*${section.after === -1 ? words.begins : await placeOf(section.after)}*\n`;
    if (section.entries.length === 0) yield `\n*${words.empty}*\n`;
    for (const index of section.entries) yield blockOf(await layout.read(index), survey, words);
  }

  async function placeOf(after: number): Promise<string> {
    const entry = await layout.read(after);
    return `${words.branchesOff} ${speakerOf(kindOf(entry), words)}, ${clockOf(entry)}`;
  }
}

function blockOf(entry: Entry, survey: Survey, words: Words): string {
  const result = resultOf(entry);
  const label = survey.labels.get(entry.id);
  const more = result === null ? "" : ` \`${oneLine(result.name)}\`${result.isError ? ` (${words.failed})` : ""}`;
  const chip = label === undefined ? "" : ` · ${oneLine(label)}`;
  const heading = `\n### ${oneLine(speakerOf(kindOf(entry), words))}${more} · ${clockOf(entry)}${chip}\n`;
  const parts = partsOf(entry).map((part) => partToMarkdown(part, result !== null, words));
  return `${heading}${parts.map((part) => `\n${part}\n`).join("")}`;
}

function partToMarkdown(part: Part, isResult: boolean, words: Words): string {
  switch (part.kind) {
    case "text":
      return isResult ? fenced(part.text) : quotedHeadings(part.text);
    case "thinking":
      return `*${words.thinking}*\n\n${quote(part.text)}`;
    case "call":
      return `${words.call} \`${oneLine(part.name)}\`\n\n${fenced(part.text, "json")}`;
    case "image":
      return `*[${words.image}: ${oneLine(part.mimeType)}]*`;
  }
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f`]+/g, " ").trim();
}

function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function quote(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** A heading that somebody wrote must not pass for one of ours. */
function quotedHeadings(text: string): string {
  return text.replace(/^(#{1,6} )/gm, "\\$1");
}
