/**
 * Messages that the gateway has not accepted yet, kept per session across reloads of the page.
 * Kept text is data from outside: what does not look like a message is left out, never trusted.
 */
import type { Keep } from "./outside.ts";
import type { Outgoing } from "./state.ts";

const nameOf = (key: string): string => `holdfast.outbox.${key}`;

export function keepOutgoing(keep: Keep, key: string, outgoing: readonly Outgoing[]): void {
  keep.set(nameOf(key), outgoing.length === 0 ? null : JSON.stringify(outgoing));
}

/** Oldest first; empty when there is nothing, or nothing that can be read. */
export function keptOutgoing(keep: Keep, key: string): readonly Outgoing[] {
  const parsed = parse(keep.get(nameOf(key)));
  return Array.isArray(parsed) ? parsed.filter(isOutgoing) : [];
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

function isOutgoing(value: unknown): value is Outgoing {
  if (typeof value !== "object" || value === null) return false;
  const { clientKey, text, at, refusal } = value as Record<string, unknown>;
  const strings = typeof clientKey === "string" && typeof text === "string";
  return strings && typeof at === "number" && (refusal === null || typeof refusal === "string");
}
