/**
 * The command line's own refusals, and which exit code each error of any package becomes.
 * Invariant: exit codes are a promise (docs/guide/cli.md): 0 ok, 1 failed, 2 wrong usage, 3 problems found, 4 busy, 5 not found.
 */
import { CodedError, type ErrorDetails, errnoOf, isCoded, messageOf } from "@holdfast/base";

export const CLI_ERRORS = {
  usage: "{what}",
  bad_name: "{name} cannot name a conversation: {why}. Use a session key, a session id or a unique beginning of one.",
  action_unknown: "There is no action {id}, or several begin so. `holdfast actions` lists them.",
  action_unfinished:
    "The action {id} has no result yet. The next turn of its conversation finds out what became of it.",
  name_unknown: "There is no conversation called {name}. `holdfast session list` shows what there is.{begin}",
  name_ambiguous: "{name} could mean {count} conversations: {names}. Write more of the one you mean.",
  request_unknown: "Request {n} of {key} is not kept; {there}.",
  agent_unknown: "There is no agent called {agent}. Known: {known}.",
  openclaw_home:
    "{path} is an OpenClaw home. Holdfast does not write into it: choose another folder with --home, and bring the history over with `holdfast --home DIR migrate openclaw {path}`.",
  bad_line: "Line {line} of the input was not appended: {why}. Lines acknowledged before it are kept.",
  output_closed:
    "The reader of the output went away, so nothing more was appended. Lines acknowledged before are kept.",
  gateway_unreachable: "The gateway at {address} does not answer: {why}. Look at its log, or stop it and try again.",
  gateway_refused: "The gateway answered {status}: {what}",
  gateway_not_ready: "A gateway holds {home} but has not said where it listens. Wait a moment and try again.",
  demo_failed: "The demo did not come to its end: {why}. What it wrote is kept in {home}.",
  system: "{what}{where}. {hint}",
  unexpected: "Something is wrong in holdfast itself: {what}. HOLDFAST_LOG=debug shows where.",
} as const;

export type CliErrorCode = keyof typeof CLI_ERRORS;

/** Thrown by this package only. */
export class CliError extends CodedError<CliErrorCode> {
  constructor(code: CliErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(CLI_ERRORS, code, details, cause);
  }
}

export const EXIT = { ok: 0, failed: 1, usage: 2, problems: 3, busy: 4, notFound: 5 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes of all packages that do not simply mean "failed". */
const EXIT_OF: Readonly<Record<string, ExitCode>> = {
  usage: EXIT.usage,
  bad_name: EXIT.usage,
  name_ambiguous: EXIT.usage,
  openclaw_home: EXIT.usage,
  not_a_file: EXIT.usage,
  bad_line: EXIT.usage,
  bad_key: EXIT.usage,
  bad_request: EXIT.usage,
  bad_session_key: EXIT.usage,
  bad_session_id: EXIT.usage,
  bad_entry: EXIT.usage,
  path_outside: EXIT.usage,
  home_busy: EXIT.busy,
  lock_timeout: EXIT.busy,
  gateway_not_ready: EXIT.busy,
  session_exists: EXIT.usage,
  key_unknown: EXIT.usage,
  in_flight: EXIT.busy,
  too_busy: EXIT.busy,
  stopping: EXIT.busy,
  action_unknown: EXIT.notFound,
  name_unknown: EXIT.notFound,
  request_unknown: EXIT.notFound,
  agent_unknown: EXIT.notFound,
  no_agent: EXIT.notFound,
  file_missing: EXIT.notFound,
  entry_missing: EXIT.notFound,
  session_missing: EXIT.notFound,
};

export function exitCodeOf(error: CodedError): ExitCode {
  return EXIT_OF[error.code] ?? EXIT.failed;
}

const ERRNO_SAYS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EACCES: ["Permission denied", "Check who owns it and its mode, or choose another place with --home"],
  EPERM: ["Not permitted", "Check who owns it and its mode, or choose another place with --home"],
  EROFS: ["The file system is read-only", "Choose another place with --home, or mount it for writing"],
  ENOSPC: [
    "No space is left on the device",
    "Free some space and run the command again; what was acknowledged is kept",
  ],
  EDQUOT: ["The disk quota is used up", "Free some space and run the command again; what was acknowledged is kept"],
  EMFILE: ["Too many files are open", "Raise the limit (ulimit -n) and try again"],
  ENOTDIR: ["A file is in the place of a directory", "Move it away, or choose another place with --home"],
  EISDIR: ["A directory is in the place of a file", "Move it away and try again"],
  ENOENT: ["No such file or directory", "Check the path"],
  EADDRINUSE: ["The address is in use", "Choose another port: gateway.port in holdfast.json, or --port"],
};

function systemError(error: Error, errno: string): CliError {
  const [what, hint] = ERRNO_SAYS[errno] ?? [messageOf(error), "Nothing was acknowledged that is not kept"];
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  return new CliError("system", { what, where: path === undefined ? "" : `: ${path}`, hint: `${hint}.`, errno }, error);
}

/** Every thrown value as an error with a code. What is not known is a fault of ours and says so. */
export function coded(error: unknown): CodedError {
  if (isCoded(error)) return error;
  const errno = errnoOf(error);
  if (error instanceof Error && errno !== undefined && /^E[A-Z0-9]+$/.test(errno)) return systemError(error, errno);
  return new CliError("unexpected", { what: messageOf(error) }, error);
}
