/**
 * When the clocks of a named place reach an hour. Pure; the rules of the zones come from `Intl`.
 *
 * "Reached" is the first instant at which the local clock shows the hour or later on that day: where the hour is skipped in
 * spring that is the jump itself, where it comes twice in autumn it is the first time.
 * Invariant: every local day has exactly one such instant, and later days never have an earlier one.
 */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Making a formatter costs more than using it; there are few zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(timezone, made);
  return made;
}

/** Whether this is a zone that can be computed with: an IANA name, or an offset such as `+05:00`. */
export function isTimezone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The zone of this machine, by name. */
export function machineTimezone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** What the clocks there show at an instant, as the milliseconds that this reading would be in UTC. */
export function wallClock(timezone: string, atMs: number): number {
  const parts = formatOf(timezone).formatToParts(atMs);
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((each) => each.type === type)?.value);
  const toSecond = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return toSecond + (((atMs % 1000) + 1000) % 1000);
}

function reachedAt(timezone: string, shownMs: number): number {
  // The two offsets that can be in force around this reading; no zone changes twice within two days.
  const guesses = [shownMs - DAY_MS, shownMs + DAY_MS].map((atMs) => shownMs - (wallClock(timezone, atMs) - atMs));
  let low = Math.min(...guesses);
  let high = Math.max(...guesses);
  for (const guess of [low, high]) if (wallClock(timezone, guess) === shownMs) return guess;
  // Nobody ever read this on a clock: it was skipped somewhere between the guesses.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (wallClock(timezone, middle) < shownMs) low = middle;
    else high = middle;
  }
  return high;
}

/** The first instant after `afterMs` (milliseconds since 1970) at which a day there reaches `hour` (0 to 23). */
export function nextDaily(timezone: string, hour: number, afterMs: number): number {
  let shownMs = Math.floor(wallClock(timezone, afterMs) / DAY_MS) * DAY_MS + hour * HOUR_MS;
  let atMs = reachedAt(timezone, shownMs);
  while (atMs <= afterMs) {
    shownMs += DAY_MS;
    atMs = reachedAt(timezone, shownMs);
  }
  return atMs;
}
