/** The beginning of what an entry says, on one line, for lists and trees. Pure. */
import { type Entry, fieldsOf, isMessage } from "./entry.ts";
import { isObject } from "@holdfast/base";

const EXCERPT_CHARACTERS = 120;
/** Enough to fill an excerpt whatever the white space; a text of megabytes is not looked at whole. */
const LOOK_AT_CHARACTERS = 1000;

export function excerptOf(entry: Entry): string {
  const text = sourceOf(entry).slice(0, LOOK_AT_CHARACTERS);
  const line = text
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    .toWellFormed();
  const characters = [...line];
  return characters.length <= EXCERPT_CHARACTERS ? line : `${characters.slice(0, EXCERPT_CHARACTERS - 1).join("")}…`;
}

function sourceOf(entry: Entry): string {
  const { content, summary, label, name, customType, modelId, thinkingLevel } = fieldsOf(entry);
  if (isMessage(entry)) return textOf(fieldsOf(entry.message).content ?? fieldsOf(entry.message).command);
  if (content !== undefined) return textOf(content);
  const first = [summary, label, name, customType, modelId, thinkingLevel].find((value) => typeof value === "string");
  return typeof first === "string" ? first : "";
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(blockText).join(" ") : "";
}

function blockText(block: unknown): string {
  if (!isObject(block)) return "";
  if (block.type === "toolCall") return `[${String(block.name)}]`;
  if (block.type === "image") return "[image]";
  return typeof block.text === "string" ? block.text : "";
}
