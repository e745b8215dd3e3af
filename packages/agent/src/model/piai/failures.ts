/**
 * Why a provider's answer failed, from the HTTP status where there is one and from the text where there is none.
 * Invariant: the message is one sentence that names the provider and what happened (what to do is said by whoever gives up,
 * in stop.ts), and it holds no key, whatever the provider echoed.
 */
import { isObject, tryParse } from "@holdfast/base";
import type { ModelFailure, ModelFailureCode } from "../../types.ts";
import { modelFailure } from "../answers.ts";
import type { Limit, PatienceLimits } from "./limits.ts";

/** What was seen of the HTTP exchange; the library passes on a text only. */
export interface Exchange {
  /** Status of a response that was not ok. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Whether headers arrived at all. */
  readonly responded: boolean;
}
export interface Place {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** Taken out of every message. */
  readonly apiKey: string;
}

const DETAIL_CHARS_MAX = 300;

/** For texts without a status, and for statuses that mean several things. The first that matches counts. */
const MEANINGS: readonly (readonly [RegExp, ModelFailureCode])[] = [
  [
    /insufficient[_ ]quota|exceeded your current quota|billing|payment|insufficient (?:balance|credits?|funds)/i,
    "billing",
  ],
  [/content[_ ]filter|content[_ ]policy|content management policy|safety system/i, "content_filter"],
  [/rate[_ ]?limit|too many requests/i, "rate_limited"],
  [/overloaded|capacity|temporarily unavailable|service[_ ]unavailable|server[_ ]error/i, "overloaded"],
  [/invalid[_ ]api[_ ]key|incorrect api key|unauthorized|authentication/i, "auth"],
  [/finish_reason: network_error|terminated|other side closed|socket|ECONNRESET|EPIPE|premature close/i, "connection"],
  [/stream ended|finish_reason|not valid JSON|JSON/i, "bad_answer"],
];

function meaningOf(text: string): ModelFailureCode | undefined {
  return MEANINGS.find(([pattern]) => pattern.test(text))?.[1];
}

function codeOfStatus(status: number, text: string): ModelFailureCode {
  const meaning = meaningOf(text);
  if (status === 402 || (meaning === "billing" && status < 500)) return "billing";
  if (status === 401 || status === 403) return meaning === "content_filter" ? "content_filter" : "auth";
  // The model's name or the address is wrong: another model may well be there.
  if (status === 404) return "not_set_up";
  if (status === 408 || status === 504) return "timeout";
  if (status === 413) return "context_overflow";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "overloaded";
  return meaning === "content_filter" ? "content_filter" : "bad_request";
}

/** The provider's own words, as short as they can be: out of their JSON, on one line, without the key. */
export function detailOf(text: string, apiKey: string): string {
  const bare = text.replace(/^(?:[\w -]+ API error \(\d{3}\): |\d{3}\b[:\s]*)/u, "");
  const parsed = tryParse(bare);
  const body = isObject(parsed) && isObject(parsed.error) ? parsed.error : parsed;
  const said = isObject(body) && typeof body.message === "string" ? body.message : bare;
  const safe = (apiKey.length < 4 ? said : said.replaceAll(apiKey, "[key]")).replace(
    /https?:\/\/[^\s"'<>]+/gi,
    addressOf,
  );
  const line = safe.replace(/\s+/g, " ").trim();
  return line.length > DETAIL_CHARS_MAX ? `${line.slice(0, DETAIL_CHARS_MAX).toWellFormed()}…` : line;
}

/** Without user, password and query: they may hold secrets. */
function addressOf(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  return url === null ? "its address" : `${url.origin}${url.pathname}`;
}

/** Ended like a sentence, also where the provider's words are not. */
function ended(text: string): string {
  return /[.!?…。！？]["'”)]?$/.test(text) ? text : `${text}.`;
}

/** A failure that the library reported as `text`. `overflow`: the library knows the text as an overflow. */
export function failureOf(text: string, overflow: boolean, exchange: Exchange, place: Place): ModelFailure {
  const { status, retryAfterMs, responded } = exchange;
  const detail = detailOf(text, place.apiKey);
  const name = `${place.provider}/${place.model}`;
  if (status !== null) {
    const code = overflow && status < 429 ? "context_overflow" : codeOfStatus(status, text);
    return modelFailure(code, ended(`${name} answered ${status}: ${detail}`), { status, retryAfterMs });
  }
  if (!responded) {
    return modelFailure("connection", ended(`${name} did not answer at ${addressOf(place.baseUrl)}: ${detail}`));
  }
  const code = overflow ? "context_overflow" : (meaningOf(text) ?? "unknown");
  return modelFailure(code, ended(`${name} broke off: ${detail}`));
}

/** A failure of our own patience. */
export function expiredFailure(limit: Limit, limits: PatienceLimits, place: Place): ModelFailure {
  const what = limit === "totalMs" ? "did not finish within" : "sent nothing for";
  const message = `${place.provider}/${place.model} ${what} ${limits[limit] / 1000} s.`;
  return modelFailure("timeout", message);
}
