/**
 * The gateway's log: JSON lines on stderr, written at once so that a killed process has said what it had to say.
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

/** Level by `HOLDFAST_LOG` (debug, info, warn, error, silent); `info` when it is missing or unknown. */
export async function openLog(env: Readonly<Record<string, string | undefined>> = process.env): Promise<Log> {
  const { pino } = await import("pino");
  const wanted = env.HOLDFAST_LOG ?? "";
  const level = LEVELS.includes(wanted) ? wanted : "info";
  const target = pino.destination({ dest: 2, sync: true });
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
