/** Every failed request has the same body; what is a fault of ours is logged under an id and not described to the client. */
import { CodedError, type ErrorDetails, messageOf, type World } from "@holdfast/base";
import { GatewayError, STATUS } from "../errors.ts";
import type { Log } from "../log.ts";
import type { WireError } from "../wire/index.ts";

export interface Failure {
  readonly status: number;
  readonly body: WireError;
}

/** Fastify's own refusals, by its code. */
const FASTIFY: Readonly<Record<string, (limitBytes: number) => GatewayError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (limitBytes) => new GatewayError("body_too_large", { limitBytes }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new GatewayError("unsupported_media_type"),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new GatewayError("bad_request", { why: "the body is empty" }),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new GatewayError("bad_request", { why: "the body is not JSON" }),
};

/** Codes of other packages that are the client's to mend. */
const CLIENT_CODES: Readonly<Record<string, number>> = {
  bad_entry: 400,
  bad_key: 400,
  bad_session_id: 400,
  calls_open: 409,
  entry_missing: 404,
  gone: 409,
  key_unknown: 422,
  session_exists: 409,
  session_missing: 404,
  lock_timeout: 503,
  write_failed: 507,
};

function known(error: unknown, limitBytes: number): CodedError | undefined {
  if (error instanceof CodedError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  const made = FASTIFY[code]?.(limitBytes);
  return made ?? (status === 400 ? new GatewayError("bad_request", { why: "the request is malformed" }) : undefined);
}

export function wireError(code: string, message: string, details: ErrorDetails): WireError {
  return { error: { code, message, details } };
}

export function failureOf(
  error: unknown,
  { world, log, limitBytes }: { world: World; log: Log; limitBytes: number },
): Failure {
  const coded = known(error, limitBytes);
  const status = coded === undefined ? undefined : (STATUS[coded.code] ?? CLIENT_CODES[coded.code]);
  if (coded !== undefined && status !== undefined)
    return { status, body: wireError(coded.code, coded.message, coded.details) };
  const id = world.newId("holder");
  log.error("a request failed", { id, code: coded?.code, why: messageOf(error) });
  const fault = new GatewayError("internal", { id });
  return { status: 500, body: wireError(fault.code, fault.message, fault.details) };
}
