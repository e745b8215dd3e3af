/** The HTTP door over a real socket: who is let in, what every answer carries, and the shapes of refusals. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { say, scriptedModel } from "@holdfast/agent";
import { describe, expect, test } from "vitest";
import { realWorld } from "@holdfast/base";
import { createGateway } from "../../src/gateway.ts";
import { silentLog } from "../../src/log.ts";
import { temporaryHome } from "../support/home.ts";
import { configOf, startGateway } from "../support/gateway.ts";
import { type Asked, ask, tokenOf } from "../support/http.ts";

const KEY = "agent:main:main";

async function started(options: Parameters<typeof startGateway>[0] = {}) {
  const { gateway, home } = await startGateway({ model: scriptedModel(() => say("hi")), ...options, http: true });
  const base = gateway.address!;
  const bearer = { authorization: `Bearer ${tokenOf(home)}` };
  const get = (path: string, asked: Asked = {}) =>
    ask(base + path, { ...asked, headers: { ...bearer, ...asked.headers } });
  return { gateway, home, base, bearer, get, port: new URL(base).port };
}
const post = (body: unknown, headers: Record<string, string> = {}): Asked => ({ method: "POST", body, headers });
const MESSAGES = `/api/sessions/${KEY}/messages`;

test("health needs no sign-in; everything else does", async () => {
  const { base } = await started();
  for (const path of ["/healthz", "/readyz"]) expect((await ask(base + path)).status).toBe(200);
  for (const path of [
    "/api/status",
    "/api/sessions",
    `/api/sessions/${KEY}/entries`,
    `/api/sessions/${KEY}/stream`,
    "/v1/models",
  ])
    expect(await ask(base + path), path).toMatchObject({ status: 401 });
  const refused = await ask(base + MESSAGES, post({ text: "x" }));
  expect(refused.json()).toMatchObject({ error: { code: "not_signed_in" } });
  expect((await ask(`${base}/api/status`, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
});

test("the printed link signs in once, with a cookie that outlives a restart", async () => {
  const { gateway, base, home } = await started();
  const link = gateway.signInLink()!;
  const signedIn = await ask(link);
  expect([signedIn.status, signedIn.headers.location]).toEqual([303, "/"]);
  const set = signedIn.headers["set-cookie"]?.[0] ?? "";
  expect(set).toMatch(/HttpOnly; SameSite=Strict/);
  const cookie = set.split(";")[0] ?? "";
  expect((await ask(`${base}/api/status`, { headers: { cookie } })).status).toBe(200);
  const again = await ask(link);
  expect([again.status, again.headers["set-cookie"]]).toEqual([401, undefined]);
  expect(again.text).toContain("does not work any more");
  await gateway.stop();
  const second = await startGateway({ home, http: true, model: scriptedModel([]) });
  expect((await ask(`${second.gateway.address}/api/status`, { headers: { cookie } })).status).toBe(200);
  for (const forged of [`${cookie}x`, cookie.replace(/=\d+/, "=9999999999999"), cookie.replace(/\..*/, ".")])
    expect((await ask(`${second.gateway.address}/api/status`, { headers: { cookie: forged } })).status).toBe(401);
});

describe("names and origins", () => {
  test.each([
    ["localhost:4653", 200],
    ["127.0.0.1", 200],
    ["[::1]:80", 200],
    ["holdfast.localhost", 200],
    ["evil.test", 403],
    ["evil.test:4653", 403],
    ["127.0.0.1.evil.test", 403],
    ["192.168.1.7", 403],
    ["localhost.evil.test", 403],
  ])("Host %s → %s, also without a sign-in", async (host, status) => {
    const { base, get } = await started();
    expect((await get("/api/status", { headers: { host } })).status).toBe(status);
    expect((await ask(`${base}/healthz`, { headers: { host } })).status).toBe(status);
  });

  test.each([
    ["no origin, bearer", {}, 202],
    ["own origin", { origin: "own" }, 202],
    ["another site", { origin: "http://evil.test" }, 403],
    ["another port of this machine", { origin: "http://localhost:9999" }, 403],
    ["null", { origin: "null" }, 403],
    ["cross-site by Sec-Fetch-Site", { "sec-fetch-site": "cross-site" }, 403],
    ["same-site is not same-origin", { "sec-fetch-site": "same-site" }, 403],
    ["same-origin by Sec-Fetch-Site", { "sec-fetch-site": "same-origin" }, 202],
  ])("%s", async (_name, headers: Record<string, string>, status) => {
    const { base, get } = await started();
    const sent = headers.origin === "own" ? { ...headers, origin: base } : headers;
    const answer = await get(MESSAGES, post({ text: "hello" }, sent));
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.json()).toMatchObject({ error: { code: "forbidden_origin" } });
  });

  test("a cookie without any word on the origin is refused for what changes state", async () => {
    const { gateway, base } = await started();
    const signedIn = await ask(gateway.signInLink()!);
    const cookie = (signedIn.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
    expect((await ask(base + MESSAGES, post({ text: "x" }, { cookie }))).status).toBe(403);
    expect((await ask(base + MESSAGES, post({ text: "x" }, { cookie, origin: base }))).status).toBe(202);
  });

  test("a new one-time link is made for whoever is signed in, works once, and for nobody else", async () => {
    const { base, get } = await started();
    expect((await ask(`${base}/api/signin-link`, { method: "POST" })).status).toBe(401);
    expect((await get("/api/signin-link", { method: "POST", headers: { origin: "http://evil.test" } })).status).toBe(
      403,
    );
    const made = await get("/api/signin-link", { method: "POST" });
    const { path } = made.json() as { path: string };
    expect((await ask(base + path)).status).toBe(303);
    expect((await ask(base + path)).status).toBe(401);
  });

  test("a page of another origin gets no stream", async () => {
    const { get } = await started();
    const path = `/api/sessions/${KEY}/stream`;
    expect((await get(path, { headers: { origin: "http://evil.test" } })).status).toBe(403);
    expect((await get(path, { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });
});

test("every answer carries the security headers", async () => {
  const { base, get } = await started();
  for (const answer of [
    await ask(`${base}/healthz`),
    await get("/api/status"),
    await get("/nowhere.js"),
    await ask(base),
  ])
    expect(answer.headers).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/,
      ),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    });
});

test.each([
  ["no text", {}, 400, "bad_request"],
  ["a number as text", { text: 5 }, 400, "bad_request"],
  ["empty text", { text: "" }, 400, "bad_request"],
  ["an unknown member", { text: "x", tex: 1 }, 400, "bad_request"],
  ["wait as text", { text: "x", wait: "yes" }, 400, "bad_request"],
  ["no object", "text", 400, "bad_request"],
  ["too much", { text: "x".repeat(1024 * 1024) }, 413, "body_too_large"],
])("a message with %s is refused", async (_name, body, status, code) => {
  const { get } = await started();
  const answer = await get(MESSAGES, post(body));
  expect([answer.status, answer.json()]).toMatchObject([
    status,
    { error: { code, message: expect.any(String), details: {} } },
  ]);
  expect((await get("/api/sessions")).json()).toEqual({ sessions: [] });
});

test.each([
  ["text/plain", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
  ["a bad idempotency key", { "idempotency-key": "a b" }, 400, "bad_request"],
])("%s is refused", async (_name, headers, status, code) => {
  const { get } = await started();
  const answer = await get(MESSAGES, post({ text: "x" }, headers));
  expect([answer.status, answer.json()]).toMatchObject([status, { error: { code } }]);
});

test("broken JSON, unknown paths and bad keys have the same form of error", async () => {
  const { base, bearer, get } = await started();
  const broken = await fetch(base + MESSAGES, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: "{",
  });
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: "bad_request" } }]);
  expect((await get("/api/nothing")).json()).toMatchObject({ error: { code: "not_found" } });
  expect((await get("/assets/none.js")).json()).toMatchObject({ error: { code: "not_found" } });
  for (const key of ["..%2F..%2Fx", "agent:main:..%2Fx", "main"])
    expect((await get(`/api/sessions/${key}/entries`)).json()).toMatchObject({ error: { code: "bad_session_key" } });
  expect((await get("/api/sessions/agent:nobody:main/entries")).status).toBe(404);
});

test("the dashboard is served with a fallback for its own addresses, and nothing outside of its folder", async () => {
  const dashboardRoot = join(await temporaryHome(), "dist");
  mkdirSync(join(dashboardRoot, "assets"), { recursive: true });
  writeFileSync(join(dashboardRoot, "index.html"), "<!doctype html>the page");
  writeFileSync(join(dashboardRoot, "assets", "a.js"), "code");
  writeFileSync(join(dashboardRoot, "..", "secret.txt"), "secret");
  const { base } = await started({ dashboardRoot });
  for (const path of ["/", "/sessions/agent:main:main", "/settings"])
    expect((await ask(base + path)).text).toContain("the page");
  const asset = await ask(`${base}/assets/a.js`);
  expect([asset.text, asset.headers["cache-control"]]).toEqual(["code", "public, max-age=31536000, immutable"]);
  expect((await ask(base)).headers["cache-control"]).toBe("no-cache");
  expect((await ask(`${base}/assets/none.js`)).json()).toMatchObject({ error: { code: "not_found" } });
  for (const path of ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"])
    expect((await ask(base + path)).text).not.toBe("secret");
});

test("without a built dashboard there is a page that says what to do", async () => {
  const { base } = await started({ dashboardRoot: join(await temporaryHome(), "none") });
  const page = await ask(base);
  expect([page.status, page.headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
  expect(page.text).toContain("npm run build");
});

test("a taken port is a clear error, and the home is free again", async () => {
  const { port } = await started();
  const home = await temporaryHome();
  const gateway = createGateway({
    home,
    config: configOf(),
    world: realWorld(),
    log: silentLog,
    dashboardRoot: null,
    http: { host: "127.0.0.1", port: Number(port) },
  });
  await expect(gateway.start()).rejects.toMatchObject({
    code: "http_unavailable",
    message: expect.stringContaining("the port is taken"),
  });
  await startGateway({ home });
});
