/** Durations and sizes as people write them in configuration (docs/config.md). */
import { BaseError } from "./errors.ts";

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

function parseUnit(value: string | number, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value === "number")
    return Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : undefined;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(value);
  const unit = match?.[2]?.toLowerCase();
  if (unit === undefined || !Object.hasOwn(units, unit)) return undefined;
  const amount = Math.round(Number(match?.[1]) * (units[unit] ?? Number.NaN));
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** `"500ms" | "30s" | "5m" | "2h" | "30d"` or milliseconds → milliseconds. Throws `bad_duration`. */
export function durationMs(value: string | number): number {
  const ms = parseUnit(value, DURATION_MS);
  if (ms === undefined) throw new BaseError("bad_duration", { value: String(value) });
  return ms;
}

/** `"100mb"` or bytes → bytes (1 kb = 1024). Throws `bad_size`. */
export function sizeBytes(value: string | number): number {
  const bytes = parseUnit(value, SIZE_BYTES);
  if (bytes === undefined) throw new BaseError("bad_size", { value: String(value) });
  return bytes;
}
