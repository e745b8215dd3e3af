/**
 * The gateway's codes (docs/errors.md says what to do about each) and the HTTP status each one answers with.
 * Refusals that a correct client may meet are returned as values with one of these codes; faults are thrown.
 */
import { CodedError, type ErrorDetails } from "@holdfast/base";

export const GATEWAY_ERRORS = {
  attachment_unusable: 'The file "{name}" cannot be taken: {why}.',
  bad_request: "The request is not understood: {why}.",
  bad_session_key: 'Not a session key: "{key}". Write agent:<agent>:<name>, for example agent:main:main.',
  body_too_large: "The message is larger than {limitBytes} bytes. Send less at once.",
  config_invalid: "{file} has {count} problem(s):\n{problems}",
  config_unreadable: "{file} cannot be read: {why}.",
  credentials_invalid: "{file} cannot be used: {why}. Mend it, or move it away to have it made anew.",
  forbidden_host: 'This gateway does not answer to the name "{host}". Use the address it printed when it started.',
  forbidden_origin: 'A page of "{origin}" may not use this gateway. Open the gateway\'s own address.',
  home_busy:
    "Another gateway uses {home}: process {pid} on {host}{address}. Stop that process, or choose another --home.",
  home_lost:
    "home.lock in {home} was removed or replaced while this gateway ran, so another one may be at work there. This one stops; start it again.",
  home_unusable: "{home} cannot be the home directory: {why}.",
  http_unavailable: "Cannot listen on {host}:{port}: {why}.",
  idempotency_mismatch: "This Idempotency-Key was used with another message. Use a new key for a new message.",
  in_flight: "This message is accepted and still being answered. Ask again with the same Idempotency-Key.",
  internal: "Something failed inside the gateway. The log has the details under {id}.",
  item_taken: "This message is being answered, has been, or is not in the queue. It cannot be changed any more.",
  lane_write_failed:
    "The queue could not be written ({why}). Nothing was accepted; make room or mend the disk, then send it again.",
  lanes_gone:
    "{file} was removed or replaced while the gateway ran, so nothing can be kept in it. Nothing was accepted; restart the gateway, then send it again.",
  lanes_unusable: "{file} cannot be used: {why}.",
  no_agent: 'There is no agent "{agent}". Configured: {known}.',
  action_open: "The action {id} has no result yet. The next turn of its conversation finds out what became of it.",
  no_action: "There is no action {id} in this conversation, or several begin so. `holdfast actions` lists them.",
  no_approval: "No request {id} waits for an answer. `holdfast approvals` lists those that do.",
  no_peer: "The message names no sender, so it belongs to no conversation.",
  not_found: "There is nothing at {path}.",
  not_signed_in: "Not signed in. Open the one-time link the gateway printed, or send `Authorization: Bearer <token>`.",
  sign_in_expired: "This sign-in link was used already or is too old. `holdfast status` prints a new one.",
  stopping: "The gateway is stopping. Send the message again when it runs.",
  too_busy: "{limit} stateless calls are already running. Try again in a moment.",
  tool_module_unusable: "The tool module {path} cannot be used: {why}. Mend it, or take it out of tools.modules.",
  turn_failed: "{text}",
  workspace_unusable:
    "{path} cannot be the workspace: {why}. Mend that, or name another folder in agents.defaults.workspace.",
  unsupported_media_type: "Send the body as application/json.",
} as const;

export type GatewayErrorCode = keyof typeof GATEWAY_ERRORS;

/** HTTP status by code; what is not here is 500. */
export const STATUS: Partial<Record<string, number>> = {
  attachment_unusable: 400,
  bad_request: 400,
  bad_session_key: 400,
  body_too_large: 413,
  forbidden_host: 403,
  forbidden_origin: 403,
  home_lost: 503,
  idempotency_mismatch: 422,
  in_flight: 409,
  item_taken: 409,
  lane_write_failed: 507,
  lanes_gone: 503,
  no_agent: 404,
  action_open: 409,
  no_action: 404,
  no_approval: 404,
  no_peer: 400,
  not_found: 404,
  not_signed_in: 401,
  sign_in_expired: 401,
  stopping: 503,
  too_busy: 429,
  turn_failed: 502,
  unsupported_media_type: 415,
};

/** Thrown by this package only. */
export class GatewayError extends CodedError<GatewayErrorCode> {
  constructor(code: GatewayErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(GATEWAY_ERRORS, code, details, cause);
  }
}
