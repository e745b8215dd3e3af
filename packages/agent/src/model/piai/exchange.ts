/**
 * A `fetch` that remembers what the library drops: the status of a refusal and when to come back.
 */
import type { World } from "@holdfast/base";
import type { Exchange } from "./failures.ts";

/** What is further away is as good as never, and dates stay dates. */
const YEAR_MS = 365 * 86_400_000;

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110), or `retry-after-ms`; null when absent or unreadable; at most a year. */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.min(Math.round(exact), YEAR_MS);
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(Math.round(Number(value) * 1000), YEAR_MS);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, atMs - nowMs), YEAR_MS);
}

/** `exchange()` tells what was seen so far; `onHeaders` is called once, when a good response begins. */
export function watchedFetch(
  world: World,
  onHeaders: () => void,
): { readonly fetch: typeof fetch; exchange(): Exchange } {
  const seen: { status: number | null; retryAfterMs: number | null; responded: boolean } = {
    status: null,
    retryAfterMs: null,
    responded: false,
  };
  return {
    exchange: () => ({ ...seen }),
    async fetch(input, init) {
      const response = await fetch(input, init);
      seen.responded = true;
      if (response.ok) onHeaders();
      else {
        seen.status = response.status;
        seen.retryAfterMs = retryAfterMs(response.headers, world.nowMs());
      }
      return response;
    },
  };
}
