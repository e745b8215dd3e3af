/** Times for people: relative at a glance, exact on demand, both by Intl in the viewer's zone. */

const STEPS: readonly (readonly [limitMs: number, unitMs: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [3_600_000, 60_000, "minute"],
  [86_400_000, 3_600_000, "hour"],
  [7 * 86_400_000, 86_400_000, "day"],
];

/** "now", "5 minutes ago", "yesterday"; the date when it is more than a week away. */
export function relativeTime(atMs: number, nowMs: number, locale: string, style: "long" | "narrow" = "long"): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style });
  const ago = Math.max(0, nowMs - atMs);
  if (ago < 60_000) return format.format(0, "second");
  const step = STEPS.find(([limitMs]) => ago < limitMs);
  if (step) return format.format(-Math.floor(ago / step[1]), step[2]);
  return new Intl.DateTimeFormat(locale, { dateStyle: style === "long" ? "medium" : "short" }).format(atMs);
}

export function exactTime(atMs: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" }).format(atMs);
}

/** "41 ms", "2.4 s", "3.1 min". */
export function duration(ms: number, locale: string): string {
  const [value, unit] = ms < 1000 ? [ms, "millisecond"] : ms < 60_000 ? [ms / 1000, "second"] : [ms / 60_000, "minute"];
  const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: ms < 1000 ? 0 : 1 } as const;
  return new Intl.NumberFormat(locale, style).format(value);
}
