/**
 * The closed codes of this package; docs/errors.md says the same to people, and a test keeps both equal.
 * Invariant: a code is never reused for another meaning. Details hold paths, ids and numbers, never text of a conversation.
 */
import { CodedError, type ErrorDetails } from "@holdfast/base";

export const SESSION_ERRORS = {
  closed: "This session is closed. Open it again with sessions.open().",
  stale_turn: "Another turn ({t}) works on session {session}. Stop this one and write nothing more.",
  stale_fence: "Another writer took over {path} ({g}). Nothing was acknowledged; open the session again.",
  calls_open:
    "{count} tool call(s) before this entry have no result yet, first {call}. Append the results first, or in the same call.",
  rewritten:
    "{path} was changed before the position read last. Nothing was written; look at it with `transcript verify`.",
  gone: "{path} is gone or was put away. Nothing was written; open the session key again.",
  bad_entry: "This entry cannot be stored: {reason}.",
  entry_missing: "There is no entry {entry} in {session}.",
  session_missing: "There is no session {key}.",
  session_exists: "{key} has a conversation already ({session}). Clear or archive that one first, or name another key.",
  key_unknown: "{file} does not say which key it belongs to. Name one: `holdfast session restore {session} --as KEY`.",
  bad_key: 'Not a session key: {key} ({reason}). Keys look like "agent:main:telegram:direct:123".',
  bad_reset: "{setting} cannot be {value}: {advice}.",
  bad_session_id:
    "Not a session id: {id}. Ids have up to 128 letters, digits, _ and -, and begin with a letter or digit.",
  path_outside: "{path} lies outside of {directory}. Move the file inside, or correct the row.",
  lock_timeout: "{path} was not free within {timeoutMs} ms; it is held by {holder}. Try again later.",
  store_newer: "{path} was set up by a newer version (format {format}). Use that version, or another directory.",
  lock_mode_unavailable:
    "{path} is locked in mode {mode}; this process only has {have}. Use a machine where {mode} works.",
  write_failed:
    "Writing {path} failed at {step} ({errno}: {reason}). Nothing was acknowledged; make room or mend the disk, then try again.",
  sync_failed:
    "{path} could not be made durable ({errno}: {reason}). Nothing was acknowledged; open the session again and look for the entry by its id.",
  read_failed: "Reading {path} failed ({errno}). Check its permissions and the disk.",
  not_a_file: "{path} is not a file. Name a transcript (<session id>.jsonl).",
  file_missing: "There is no file {path}.",
  not_a_transcript: "{path} holds no transcript: none of its {lines} line(s) is an entry or a header.",
  file_exists: "{path} is there already and is never overwritten. Choose another name, or move it away.",
  import_conflict: "{key} has another conversation ({session}). Import into another key, or archive that one first.",
  not_importable: "{path} is nothing that can be imported: {reason}.",
  read_only_version: "{path} has format version {version}, which is only read. Convert it to version 3 first.",
} as const;

export type SessionErrorCode = keyof typeof SESSION_ERRORS;

/** Thrown by this package only. */
export class SessionError extends CodedError<SessionErrorCode> {
  constructor(code: SessionErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(SESSION_ERRORS, code, details, cause);
  }
}
