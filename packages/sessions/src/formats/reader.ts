/**
 * What exports for people share: the sections of a conversation, who speaks, when, and how an entry is cut into parts.
 * Invariant: nothing that was said is left out; state that nobody said is.
 */
import { isObject } from "@holdfast/base";
import { type Entry, fieldsOf, isBranchSummary, isCompaction, isCustomMessage, isMessage } from "../entry.ts";
import { excerptOf } from "../text.ts";
import { type Section, sectionsOf } from "./sections.ts";
import { textOf, timeOf } from "./stored.ts";
import type { Survey } from "./survey.ts";
import type { Language } from "./words.ts";

export interface ForPeople {
  readonly title: string | null;
  readonly language: Language;
}

/** A piece of an entry in the order it was said. */
export type Part =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly text: string }
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string };

/** `message` roles by name, other entries by type: what `speakerOf` knows words for. */
export function kindOf(entry: Entry): string {
  if (isMessage(entry)) return entry.message.role;
  return isCustomMessage(entry) ? "custom" : entry.type;
}

export function partsOf(entry: Entry): readonly Part[] {
  const content = isMessage(entry) ? fieldsOf(entry.message).content : fieldsOf(entry).content;
  if (isCompaction(entry) || isBranchSummary(entry) || !Array.isArray(content)) return textPart(textOf(entry));
  const parts = content.filter(isObject).flatMap(partOf);
  const { errorMessage } = isMessage(entry) ? fieldsOf(entry.message) : {};
  return typeof errorMessage === "string" ? [...parts, { kind: "text", text: errorMessage }] : parts;
}

function textPart(text: string): readonly Part[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

function partOf(block: Readonly<Record<string, unknown>>): readonly Part[] {
  const { type, text, thinking, name, arguments: given, data, mimeType } = block;
  if (type === "toolCall") return [{ kind: "call", name: String(name), text: JSON.stringify(given ?? {}, null, 2) }];
  if (type === "image") return [{ kind: "image", mimeType: String(mimeType), data: String(data ?? "") }];
  if (typeof thinking === "string") return thinking === "" ? [] : [{ kind: "thinking", text: thinking }];
  return typeof text === "string" ? textPart(text) : [];
}

/** The name of the tool whose result this is, and whether it failed; null for anything else. */
export function resultOf(entry: Entry): { readonly name: string; readonly isError: boolean } | null {
  if (kindOf(entry) !== "toolResult" || !isMessage(entry)) return null;
  const { toolName, isError } = fieldsOf(entry.message);
  return { name: String(toolName), isError: isError === true };
}

/** `2026-06-21 13:01` in UTC. */
export function clockOf(entry: Entry): string {
  return new Date(timeOf(entry)).toISOString().slice(0, 16).replace("T", " ");
}

/** A conversation laid out for reading. */
export interface Layout {
  readonly sections: readonly Section[];
  /** By index of an entry: the numbers (from 1) of the sections that branch off after it. */
  readonly forks: ReadonlyMap<number, readonly number[]>;
  read(index: number): Promise<Entry>;
  /** How a section begins, on one line. */
  excerpt(section: Section): Promise<string>;
}

export function layoutOf(survey: Survey): Layout {
  const { tree, leaf } = survey.whole;
  const sections = sectionsOf(tree, leaf, (index) => survey.isMessage[index] === true);
  const forks = new Map<number, number[]>();
  for (const [number, { after }] of sections.entries()) {
    if (number > 0 && after !== -1) forks.set(after, [...(forks.get(after) ?? []), number]);
  }
  const read = (index: number): Promise<Entry> => survey.whole.read(tree.nodes[index]!);
  const excerpt = async ({ entries }: Section): Promise<string> => plainBegin(excerptOf(await read(entries[0]!)));
  return { sections, forks, read, excerpt };
}

const BEGIN_CHARS_MAX = 72;

/** The beginning of a text without the marks that would only be seen as such. */
function plainBegin(text: string): string {
  const plain = [
    ...text
      .replace(/```\w*|\*\*|__|`/g, "")
      .replace(/\s+/g, " ")
      .trim(),
  ];
  return plain.length > BEGIN_CHARS_MAX ? `${plain.slice(0, BEGIN_CHARS_MAX - 1).join("")}…` : plain.join("");
}
