/**
 * A cheap, deterministic guess at how many tokens a message costs: one for four characters, one for each CJK character,
 * a fixed number for an image. Good enough to cut a history; never used for billing.
 */
import { isObject } from "@holdfast/base";
import { type EntryMessage, fieldsOf } from "./entry.ts";

const CHARACTERS_PER_TOKEN = 4;
const IMAGE_TOKENS = 1200;
/** Han, kana, Hangul, full-width forms and CJK punctuation: about one token each. */
const WIDE =
  /[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[\ud840-\ud88d][\udc00-\udfff]/g;

/** Tokens of a text, rounded up. */
export function approximateTextTokens(text: string): number {
  const wide = text.match(WIDE);
  if (wide === null) return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  const units = wide.reduce((sum, character) => sum + character.length, 0);
  return wide.length + Math.ceil((text.length - units) / CHARACTERS_PER_TOKEN);
}

/** Tokens of a message: its texts, thoughts, calls with arguments, summaries, commands with output, and images. */
export function approximateTokens(message: EntryMessage): number {
  const { content, summary, command, output } = fieldsOf(message);
  const plain = [summary, command, output, content].filter((text) => typeof text === "string");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const ofBlocks = blocks.reduce<number>((sum, block) => sum + blockTokens(block), 0);
  return plain.reduce((sum, text) => sum + approximateTextTokens(text), ofBlocks);
}

function blockTokens(block: unknown): number {
  if (!isObject(block)) return 0;
  if (block.type === "image") return IMAGE_TOKENS;
  if (block.type === "toolCall") return approximateTextTokens(`${block.name} ${JSON.stringify(block.arguments ?? {})}`);
  const text = block.text ?? block.thinking;
  return typeof text === "string" ? approximateTextTokens(text) : 0;
}
