/**
 * The `http_request` tool: one request to a service, under the action's idempotency key.
 *
 * Invariant: what may have reached the service is never sent again on a guess. GET and HEAD change nothing; a service that is
 * said to honour `Idempotency-Key` may be asked again under the same key; else a status address tells, or nobody does.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import type { JsonObject } from "@holdfast/base";
import { z } from "zod";
import type { Probe, Tool, ToolContext, ToolOutcome } from "../types.ts";
import { argumentsOf } from "./arguments.ts";

const BODY_BYTES_MAX = 1024 * 1024;
const TIMEOUT_MS = 60_000;
const REDIRECTS_MAX = 5;

const schema = z.strictObject({
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).describe("HTTP method"),
  url: z.url({ protocol: /^https?$/ }).describe("Absolute address, http or https"),
  headers: z.record(z.string(), z.string()).optional().describe("Further headers"),
  body: z.string().optional().describe("Body, as text"),
  honoursKey: z
    .boolean()
    .optional()
    .describe("True only if the service's documentation says that it honours the Idempotency-Key header"),
  statusUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("An address that answers 2xx once this request has had its effect and 404 or 410 as long as it has not"),
});
type Args = z.infer<typeof schema>;

const changesNothing = ({ method }: Args): boolean => method === "GET" || method === "HEAD";

export function httpRequestTool(): Tool {
  const description = "Send one HTTP request. Requests that change something carry an Idempotency-Key.";
  const { spec, check, parse } = argumentsOf("http_request", description, schema);
  return {
    spec,
    check: (args) => check(args) ?? hopeless(parse(args)),
    effect: "checkable",
    effectOf(args) {
      const request = parse(args);
      if (changesNothing(request)) return "none";
      return request.honoursKey === true ? "idempotent" : "checkable";
    },
    probe: (args, _evidence, context) => probe(parse(args), context),
    run: (args, _evidence, context) => send(parse(args), context),
  };
}

/** What no request could carry. */
function hopeless({ method, body, headers = {} }: Args): string | null {
  if (body !== undefined && (method === "GET" || method === "HEAD")) return `body: ${method} has none`;
  const bad = Object.entries(headers).find(
    ([name, value]) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/iu.test(name) || /[\r\n\0]/u.test(value),
  );
  return bad === undefined ? null : `headers.${bad[0]}: not a valid header`;
}

async function send(request: Args, context: ToolContext): Promise<ToolOutcome> {
  const sent = await fetched(request, context, changesNothing(request) ? {} : { "idempotency-key": context.key });
  const { response, text, cut } = sent;
  const ending = cut ? `\n(only the first ${BODY_BYTES_MAX} bytes are shown)` : "";
  return {
    ok: response.ok,
    text: `${response.status} ${response.statusText}\n${text}${ending}`.trim(),
    details: { status: response.status, url: response.url, type: response.headers.get("content-type") },
  };
}

async function probe({ statusUrl, method }: Args, context: ToolContext): Promise<Probe> {
  if (statusUrl === undefined) {
    const says = `The service may have got this ${method}, with the Idempotency-Key ${context.key}. Ask the service what became of it.`;
    return { kind: "unknown", evidence: { idempotencyKey: context.key }, says };
  }
  const { response, text } = await fetched({ method: "GET", url: statusUrl }, context, {});
  const evidence: JsonObject = { statusUrl, status: response.status, body: text.slice(0, 2_000) };
  if (response.ok)
    return {
      kind: "happened",
      outcome: { ok: true, text: `${statusUrl} answers ${response.status}:\n${text}` },
      evidence,
    };
  if (response.status === 404 || response.status === 410)
    return { kind: "absent", evidence, says: `${statusUrl} answers ${response.status}: it has not happened.` };
  return { kind: "unknown", evidence, says: `${statusUrl} answers ${response.status}, which says nothing.` };
}

interface Fetched {
  readonly response: Response;
  readonly text: string;
  readonly cut: boolean;
}

/** Follows redirects itself, so that each address is judged. A redirect of what changes something is not followed. */
async function fetched(
  request: Pick<Args, "method" | "url" | "headers" | "body">,
  { signal, world }: ToolContext,
  more: Readonly<Record<string, string>>,
): Promise<Fetched> {
  const late = new AbortController();
  const over = new AbortController();
  void world.sleep(TIMEOUT_MS, over.signal).then(
    () => late.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
    () => undefined,
  );
  const both = AbortSignal.any([signal, late.signal]);
  const { method, headers = {}, body } = request;
  try {
    for (let url = request.url, hop = 0; ; hop++) {
      await refuseLinkLocal(url);
      const init = { method, headers: { ...headers, ...more }, redirect: "manual", signal: both } as const;
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      const next = response.headers.get("location");
      const follows =
        response.status >= 300 && response.status < 400 && next !== null && (method === "GET" || method === "HEAD");
      if (!follows || hop >= REDIRECTS_MAX) return { response, ...(await textOf(response)) };
      await response.body?.cancel();
      url = new URL(next, url).href;
      if (!/^https?:/u.test(url)) throw new Error(`the redirect to ${url} is not followed`);
    }
  } finally {
    over.abort();
  }
}

/** Addresses at which clouds hand out credentials to whoever asks. */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet("169.254.0.0", 16, "ipv4");
FORBIDDEN.addSubnet("fe80::", 10, "ipv6");
FORBIDDEN.addSubnet("fd00:ec2::", 32, "ipv6");

async function refuseLinkLocal(url: string): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[|\]$/gu, "");
  const addresses = isIP(host) > 0 ? [host] : (await lookup(host, { all: true })).map(({ address }) => address);
  const bad = addresses.find((address) => FORBIDDEN.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"));
  if (bad !== undefined) throw new Error(`${host} is a link-local address (${bad}); requests do not go there`);
}

async function textOf(response: Response): Promise<{ readonly text: string; readonly cut: boolean }> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) break;
  }
  const all = Buffer.concat(pieces).subarray(0, BODY_BYTES_MAX);
  return { text: new TextDecoder().decode(all), cut: bytes > BODY_BYTES_MAX };
}
