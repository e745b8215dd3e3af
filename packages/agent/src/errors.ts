/** The closed error codes of this package; docs/errors.md explains each. Messages never hold a secret. */
import { CodedError, type ErrorDetails } from "@holdfast/base";

export const AGENT_ERRORS = {
  stopped: "A person stopped the work on {session}.",
  timed_out: "The work on {session} took longer than {seconds} s.",
  detached:
    "Work on {session} was let go on purpose; whatever still runs goes on, and the next claim takes it up again.",
  right_lost: "The right to work on {session} went to another holder; this one stops and writes nothing more.",
  session_moved:
    "The message began in session {began}, but {key} is session {now} now. Send the message again; what was done stays on record in {began}.",
  model_bad_choice:
    'The model "{choice}" is not known. Write agents.defaults.model.primary as "provider/model", with a model that models.providers lists.',
  model_unknown_provider:
    'No usable address for the provider of "{choice}". Set models.providers.{provider}.baseUrl (http or https, no user or password in it), or use one of: {known}.',
  model_api_unsupported:
    'The provider {provider} is set to the api "{api}", which is not supported. Set models.providers.{provider}.api to "{supported}".',
  model_key_missing:
    "No API key for the provider {provider}. Set models.providers.{provider}.apiKey; it may name an environment variable.",
} as const;

export type AgentErrorCode = keyof typeof AGENT_ERRORS;

/** A stop of the process or of the right, not of the work: what runs goes on, and the next claim takes it up. */
export function isLettingGo(reason: unknown): boolean {
  return reason instanceof AgentError && (reason.code === "detached" || reason.code === "right_lost");
}

/** Thrown by this package only. */
export class AgentError extends CodedError<AgentErrorCode> {
  constructor(code: AgentErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(AGENT_ERRORS, code, details, cause);
  }
}
