/**
 * What the name of a file of the older, flat layout says, and the session it becomes. Pure.
 * Invariant: a flat file has one session id, whoever takes it over and however often.
 */
import { basename } from "node:path";
import { sha256 } from "@holdfast/base";

/** `telegram_123456.jsonl` is the direct chat of that person. Null when the name says nothing of the kind. */
export function flatOwner(file: string): { readonly channel: string; readonly userId: string } | null {
  const [, channel, userId] = /^([^_:\s]+)_([^:\s]+)\.jsonl$/.exec(basename(file)) ?? [];
  return channel === undefined || userId === undefined ? null : { channel, userId };
}

/** Not the name itself: the new transcript may come to stand beside the flat file. `began`: of its first message, ISO 8601. */
export function flatIdOf(file: string, began: string): string {
  return `flat-${sha256(`${basename(file)} ${began}`).slice(0, 16)}`;
}
