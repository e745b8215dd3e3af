/** Days as people count them, in the user's time zone. Pure; the rules of the zones come from `Intl`. */
const DAY_MS = 86_400_000;

/** Making a formatter costs more than using it; there are few zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    calendar: "iso8601",
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "longOffset",
  });
  formats.set(timezone, made);
  return made;
}

interface Clock {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Mon, Tue, ... */
  readonly weekday: string;
  /** HH:MM, 24 hours */
  readonly time: string;
  /** As +08:00 */
  readonly offset: string;
}

/** What the clocks of a zone show. */
export function clockAt(timezone: string, atMs: number): Clock {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace(/^GMT/, "");
  return {
    day: `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`,
    weekday: part("weekday"),
    time: `${part("hour")}:${part("minute")}`,
    offset: offset === "" ? "+00:00" : offset,
  };
}

export function dayAt(timezone: string, atMs: number): string {
  return clockAt(timezone, atMs).day;
}

/** The calendar's day before, whatever the clocks did in between. */
export function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
