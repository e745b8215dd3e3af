/**
 * The shape of every error Holdfast throws: a closed code, a sentence for people, details for programs.
 * Each package has one subclass and one code table; docs/errors.md lists all of them and a test keeps both equal.
 */

/** A code table: code → sentence. `{name}` is filled from the details. */
export type ErrorTable = Readonly<Record<string, string>>;

/** Details must be printable and must never hold a secret. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Base of every package's error class. `code` is stable and never reused; `message` may change. */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(table: Readonly<Record<Code, string>>, code: Code, details: ErrorDetails = {}, cause?: unknown) {
    super(fill(table[code], details), cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.details = details;
  }
}

/** Whether an error has this shape, also when another copy of this package made it. */
export function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "details" in error;
}

/** Fills `{name}` from `details`; what is missing stays visible as `{name}`. A sentence that ends with a sentence has one full stop. */
export function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}(\.?)/g, (whole, name: string, stop: string) => {
    const value = details[name];
    if (value === undefined) return whole;
    return /[.!?。]$/.test(String(value)) ? String(value) : `${value}${stop}`;
  });
}

/** The errno code of a system error (`ENOSPC`, `EROFS`, ...), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** One line of text for any thrown value. Where leaving a scope failed as well, both reasons, the first one first. */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${messageOf(error.suppressed)} (then: ${messageOf(error.error)})`;
  return error instanceof Error ? error.message : String(error);
}

/** Base's own codes. */
export const BASE_ERRORS = {
  bad_duration: 'Not a duration: {value}. Write "500ms", "30s", "5m", "2h", "30d" or a number of milliseconds.',
  bad_size: 'Not a size: {value}. Write "100mb", "2gb" or a number of bytes.',
  json_too_deep: "The value is nested more than {levels} levels deep.",
  lock_timeout: "The lock {path} was not free within {timeoutMs} ms; it is held by {holder}.",
  not_regular: "{path} is {what}, not a file. Move it away and try again.",
} as const;

export type BaseErrorCode = keyof typeof BASE_ERRORS;

/** Thrown by this package only. */
export class BaseError extends CodedError<BaseErrorCode> {
  constructor(code: BaseErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(BASE_ERRORS, code, details, cause);
  }
}
