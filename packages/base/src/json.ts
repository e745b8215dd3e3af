/**
 * JSON values, and the one canonical form that digests are made from.
 * The crypto module is loaded at the first digest: it costs a third of Node's own start, and most commands need none.
 */
import { BaseError } from "./errors.ts";
import { LIMITS } from "./limits.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** True for a plain object as JSON knows it: not null, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses, or returns undefined: for input where damage is expected and counted by the caller. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value has more than so many levels. Needs no stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/**
 * Canonical JSON: keys sorted by code unit, no white space, `undefined` members left out.
 * Equal values give equal text whatever order their keys were written in. Throws `json_too_deep` beyond
 * `LIMITS.canonicalLevelsMax`, where the stack would end.
 */
export function canonical(value: unknown): string {
  if (isDeeper(value, LIMITS.canonicalLevelsMax))
    throw new BaseError("json_too_deep", { levels: LIMITS.canonicalLevelsMax });
  return sorted(value);
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => sorted(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`);
  return `{${members.join(",")}}`;
}

/** SHA-256 as lower-case hex, of text (UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(data).digest("hex");
}

/** Digest of a JSON value in canonical form: 64 hex digits. */
export function digest(value: unknown): string {
  return sha256(canonical(value));
}
