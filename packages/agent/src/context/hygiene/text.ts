/**
 * Text that every provider can read: whole characters, no NUL. Half a character cannot be encoded as UTF-8; NUL ends the
 * text for some servers and is refused by others.
 */
import { isObject } from "@holdfast/base";

const REPLACEMENT = "\uFFFD";

/** The value with U+FFFD for what cannot be sent, at any depth; the same object where nothing has to be done. */
export function readable<Value>(value: Value): Value {
  return isReadable(value) ? value : (repaired(value) as Value);
}

function isFine(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function fine(text: string): string {
  return text.toWellFormed().replaceAll("\0", REPLACEMENT);
}

function isReadable(value: unknown): boolean {
  if (typeof value === "string") return isFine(value);
  if (Array.isArray(value)) return value.every(isReadable);
  if (!isObject(value)) return true;
  return Object.entries(value).every(([name, member]) => isFine(name) && isReadable(member));
}

function repaired(value: unknown): unknown {
  if (typeof value === "string") return fine(value);
  if (Array.isArray(value)) return value.map(repaired);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [fine(name), repaired(member)]));
}
