/**
 * Entries as clients get them: without what would make a page of history megabytes long.
 * Invariant: only copies for the wire are lightened, and each says what was left out; the whole entry is one request away.
 */
import { isObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";

/** Base64 of a picture, or text of one block, that still goes along. */
const DATA_CHARS_MAX = 4_096;
const TEXT_CHARS_MAX = 20_000;

/** Left-out data: `{ type: "image", mimeType, omitted: { bytes } }`; left-out text: the block with `omitted: { chars }`. */
export function light(entry: Entry): Entry {
  const { message } = entry as { readonly message?: unknown };
  if (!isObject(message)) return entry;
  const { content } = message;
  if (typeof content === "string" && content.length > TEXT_CHARS_MAX)
    return { ...entry, message: { ...message, content: [cut({ type: "text", text: content })] } } as unknown as Entry;
  if (!Array.isArray(content) || content.every((block) => lightBlock(block) === block)) return entry;
  return { ...entry, message: { ...message, content: content.map(lightBlock) } } as unknown as Entry;
}

function lightBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { data, text, ...rest } = block;
  if (typeof data === "string" && data.length > DATA_CHARS_MAX)
    return { ...rest, omitted: { bytes: Math.floor((data.length * 3) / 4) } };
  return typeof text === "string" && text.length > TEXT_CHARS_MAX ? cut({ ...block, text }) : block;
}

function cut(block: { readonly text: string; readonly [name: string]: unknown }): object {
  const { text } = block;
  return {
    ...block,
    text: text.slice(0, TEXT_CHARS_MAX).toWellFormed(),
    omitted: { chars: text.length - TEXT_CHARS_MAX },
  };
}
