/**
 * The gateway's log: JSON lines on stderr (plain ones on a terminal), written at once so that a killed process has said what it had to say.
 * Invariant: no secret reaches it. Callers pass codes, ids and counts; what looks like a secret is cut out all the same.
 */
import type { ErrorDetails } from "@holdfast/base";

export interface Log {
  debug(message: string, details?: ErrorDetails): void;
  info(message: string, details?: ErrorDetails): void;
  warn(message: string, details?: ErrorDetails): void;
  error(message: string, details?: ErrorDetails): void;
}

const REDACT = ["token", "apiKey", "authorization", "cookie", "password", "secret"];
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

const NAMES: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "note",
  40: "warning",
  50: "error",
  60: "error",
};
const OWN = new Set(["level", "time", "msg"]);

/** A line of JSON as a person reads it: `warning: taking over from a gateway that did not stop (pid 12)`. */
export function plainLine(line: string): string {
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const details = Object.entries(fields).flatMap(([name, value]) =>
    OWN.has(name) ? [] : [`${name} ${String(value)}`],
  );
  const text = `${NAMES[Number(fields.level)] ?? "note"}: ${String(fields.msg)}`;
  const whole = details.length === 0 ? text : `${text} (${details.join(", ")})`;
  // What came from outside must not steer the terminal.
  return `${whole.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ")}\n`;
}

/** For people when stderr is a terminal, unless `HOLDFAST_LOG_FORMAT=json`. */
function isForPeople(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.stderr.isTTY === true && env.HOLDFAST_LOG_FORMAT !== "json";
}

/** Level by `HOLDFAST_LOG` (debug, info, warn, error, silent); `info` when it is missing or unknown. */
export async function openLog(env: Readonly<Record<string, string | undefined>> = process.env): Promise<Log> {
  const { pino } = await import("pino");
  const wanted = env.HOLDFAST_LOG ?? "";
  const level = LEVELS.includes(wanted) ? wanted : "info";
  const stderr = pino.destination({ dest: 2, sync: true });
  const target = isForPeople(env) ? { write: (line: string) => void stderr.write(plainLine(line)) } : stderr;
  const logger = pino({ level, base: null, redact: { paths: REDACT, censor: "[hidden]" } }, target);
  return {
    debug: (message, details = {}) => logger.debug(details, message),
    info: (message, details = {}) => logger.info(details, message),
    warn: (message, details = {}) => logger.warn(details, message),
    error: (message, details = {}) => logger.error(details, message),
  };
}

/** Says nothing; for programs that print something else. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
