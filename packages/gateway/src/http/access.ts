/**
 * Who may ask: the name asked for, the page that asks, and the sign-in.
 *
 * Invariants: a request for a name that is not ours is refused before anything else (DNS rebinding); what changes state, or
 * streams, is refused to pages of another origin; everything but health and sign-in needs the token or the signed-in cookie.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { sha256, type World } from "@holdfast/base";
import { GatewayError } from "../errors.ts";

const COOKIE_DAYS = 90;
const LINK_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** The name in a Host header, without port and brackets. */
export function hostName(header: string): string {
  return header
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Loopback names always; the configured name; with a network address configured, any address (a name is what rebinds). */
export function checkHost(header: string | undefined, configured: string): void {
  const host = hostName(header ?? "");
  if (isLoopback(host) || host === configured.toLowerCase()) return;
  if (!isLoopback(configured) && isIP(host) !== 0) return;
  throw new GatewayError("forbidden_host", { host: host.slice(0, 100) });
}

/** For requests that change state, and for streams. Programs send no Origin and no cookie; pages send both. */
export function checkOrigin(headers: IncomingHttpHeaders, method: string): void {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (origin !== undefined) {
    if (origin === `http://${host}` || origin === `https://${host}`) return;
    throw new GatewayError("forbidden_origin", { origin: origin.slice(0, 100) });
  }
  const otherSite = site !== undefined && site !== "same-origin" && site !== "none";
  const blindCookie = headers.cookie !== undefined && headers.authorization === undefined && method !== "GET";
  if (otherSite || (blindCookie && site === undefined))
    throw new GatewayError("forbidden_origin", { origin: "unknown" });
}

function equal(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(left), "hex"), Buffer.from(sha256(right), "hex"));
}

function cookieValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export interface Access {
  /** Throws `not_signed_in`. */
  check(headers: IncomingHttpHeaders): void;
  /** A new token for one sign-in, good for a day. */
  newLinkToken(): string;
  /** The Set-Cookie value for a link's token, which is used up. Throws `sign_in_expired`. */
  signIn(linkToken: string): string;
}

/** The path of a new one-time link. */
export function signInPath(access: Access): string {
  return `/signin?token=${access.newLinkToken()}`;
}

/**
 * The cookie is `<expiry>.<HMAC>` under the gateway's token: it outlives a restart, and a new token ends all sign-ins.
 * Cookies ignore ports, so the name tells this home's gateway from another on the same machine.
 */
export function createAccess(token: string, world: World): Access {
  const name = `holdfast_${sha256(`name ${token}`).slice(0, 8)}`;
  const links = new Map<string, number>();
  const sign = (expiresMs: string): string =>
    createHmac("sha256", token).update(`cookie ${expiresMs}`).digest("base64url");
  const validCookie = (value: string): boolean => {
    const [expiresMs = "", mac = ""] = value.split(".");
    return equal(mac, sign(expiresMs)) && Number(expiresMs) > world.nowMs();
  };
  return {
    check(headers) {
      const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
      if (bearer !== undefined && equal(bearer, token)) return;
      const cookie = cookieValue(headers, name);
      if (cookie !== undefined && validCookie(cookie)) return;
      throw new GatewayError("not_signed_in");
    },
    newLinkToken() {
      const link = world.newId("token");
      links.set(sha256(link), world.nowMs() + LINK_MS);
      return link;
    },
    signIn(linkToken) {
      const expiresMs = links.get(sha256(linkToken)) ?? 0;
      links.delete(sha256(linkToken));
      if (expiresMs <= world.nowMs()) throw new GatewayError("sign_in_expired");
      const until = String(world.nowMs() + COOKIE_DAYS * DAY_MS);
      const age = COOKIE_DAYS * 86_400;
      return `${name}=${until}.${sign(until)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}`;
    },
  };
}
