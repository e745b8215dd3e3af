/** One answer's cost as a line, from its entry. Pure. */
import { isObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";

export interface UsageLine {
  /** When it was noted, in milliseconds; `day` is that day where the owner lives. */
  readonly at: number;
  readonly day: string;
  readonly agent: string;
  readonly session: string;
  /** `provider/model`. */
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly tokens: number;
  /** US dollars, by listed prices. */
  readonly cost: number;
  /** The answer's id in its transcript. */
  readonly entry: string;
}

/** As in `2026-12-01`. */
export function dayAt(timezone: string, ms: number): string {
  return formatOf(timezone).format(ms);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  formats.set(timeZone, made);
  return made;
}

/** Null for what is no answer of a model, and where nothing was counted. */
export function lineOf(
  entry: Entry,
  where: {
    readonly agent: string;
    readonly sessionKey: string;
    readonly timezone: () => string;
    readonly nowMs: number;
  },
): UsageLine | null {
  const { message } = entry as { readonly message?: unknown };
  if (!isObject(message) || message.role !== "assistant" || !isObject(message.usage)) return null;
  const { usage } = message;
  const tokens = amount(usage.totalTokens);
  if (tokens === 0) return null;
  return {
    at: where.nowMs,
    day: dayAt(where.timezone(), where.nowMs),
    agent: where.agent,
    session: where.sessionKey,
    model: `${String(message.provider)}/${String(message.model)}`,
    input: amount(usage.input),
    output: amount(usage.output),
    cacheRead: amount(usage.cacheRead),
    cacheWrite: amount(usage.cacheWrite),
    tokens,
    cost: amount(isObject(usage.cost) ? usage.cost.total : 0),
    entry: entry.id,
  };
}

export function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
