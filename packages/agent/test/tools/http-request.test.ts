/** Requests against a service on loopback: keys, verdicts through a status address, and what is never sent again. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { act, say } from "../../src/model/scripted.ts";
import { effectOf } from "../../src/settle.ts";
import { httpRequestTool } from "../../src/tools/http-request.ts";
import { dataOf, entriesOf, laneOf, resultsOf } from "../support/agent.ts";
import { stage } from "../support/stage.ts";
import { probeTool, runTool, temporaryWorkspace } from "../support/workspace.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** Answers with the handler's words; what it saw is kept. */
async function service(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const key = request.headers["idempotency-key"];
    const one = {
      method: request.method ?? "",
      url: request.url ?? "",
      key: typeof key === "string" ? key : undefined,
      body,
    };
    seen.push(one);
    answer(one, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const tool = httpRequestTool();

test("a change carries the action's key, a look does not; status and body come back", async () => {
  await using space = await temporaryWorkspace();
  const { seen, url } = await service((one, response) => {
    response.statusCode = one.method === "POST" ? 201 : 200;
    response.end(`${one.method} 好`);
  });
  expect(await runTool(tool, { method: "GET", url }, space.context)).toMatchObject({
    ok: true,
    text: "200 OK\nGET 好",
  });
  expect(await runTool(tool, { method: "POST", url, body: "{}" }, space.context)).toMatchObject({
    ok: true,
    text: "201 Created\nPOST 好",
    details: { status: 201 },
  });
  expect(seen.map(({ key }) => key)).toEqual([undefined, space.context.key]);
});

test("an error status is an outcome, not an exception; long answers are cut", async () => {
  await using space = await temporaryWorkspace();
  const { url } = await service((_one, response) => {
    response.statusCode = 500;
    response.end("x".repeat(2_000_000));
  });
  const outcome = await runTool(tool, { method: "GET", url }, space.context);
  expect([outcome.ok, outcome.text.length > 1_000_000, outcome.text.endsWith("bytes are shown)")]).toEqual([
    false,
    true,
    true,
  ]);
});

test.each([
  [{ method: "GET", url: "http://x.test" }, "none"],
  [{ method: "POST", url: "http://x.test" }, "checkable"],
  [{ method: "POST", url: "http://x.test", honoursKey: true }, "idempotent"],
])("%j repeats as %s", (args, effect) => expect(effectOf(tool, args)).toBe(effect));

test.each([
  [{ method: "GET", url: "ftp://x.test" }, /url/],
  [{ method: "GET", url: "/path" }, /url/],
  [{ method: "GET", url: "http://x.test", body: "x" }, /body/],
  [{ method: "POST", url: "http://x.test", headers: { "x\r\ny": "1" } }, /header/],
  [{ method: "POST", url: "http://x.test", headers: { x: "1\r\nHost: y" } }, /header/],
])("%j is refused before anything is sent", (args, why) => expect(tool.check(args)).toMatch(why));

test.each(["http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/"])(
  "%s is never asked",
  async (url) => {
    await using space = await temporaryWorkspace();
    await expect(runTool(tool, { method: "GET", url }, space.context)).rejects.toThrow(/link-local/);
  },
);

test("a redirect is followed for a look only, and never to another kind of address", async () => {
  await using space = await temporaryWorkspace();
  const { seen, url } = await service((one, response) => {
    const to = one.url === "/bad" ? "file:///etc/passwd" : "/end";
    if (one.url !== "/end") response.writeHead(302, { location: to });
    response.end("end");
  });
  expect(await runTool(tool, { method: "GET", url: `${url}/start` }, space.context)).toMatchObject({ ok: true });
  expect(await runTool(tool, { method: "POST", url: `${url}/start` }, space.context)).toMatchObject({
    ok: false,
    details: { status: 302 },
  });
  await expect(runTool(tool, { method: "GET", url: `${url}/bad` }, space.context)).rejects.toThrow(/not followed/);
  expect(seen.map((one) => one.url)).toEqual(["/start", "/end", "/start", "/bad"]);
});

test.each([
  [200, "happened"],
  [404, "absent"],
  [410, "absent"],
  [503, "unknown"],
])("a status address that answers %i: %s", async (status, kind) => {
  await using space = await temporaryWorkspace();
  const { url } = await service((_one, response) => {
    response.statusCode = status;
    response.end("said");
  });
  const args = { method: "POST", url: `${url}/orders`, statusUrl: `${url}/orders/7` };
  expect(await probeTool(tool, args, {}, space.context)).toMatchObject({ kind });
});

describe("cut off in the middle", () => {
  /** A service that books, and dies for the caller before it answers. */
  async function crashed(more: Record<string, unknown>) {
    const on = await stage();
    onTestFinished(() => on[Symbol.asyncDispose]());
    const booked = new Set<string>();
    const made = await service((one, response) => {
      if (one.method === "POST") booked.add(one.key ?? "");
      response.statusCode = one.method === "POST" || booked.size > 0 ? 200 : 404;
      response.end(one.method === "POST" ? `booked ${booked.size}` : "there");
    });
    const status = more.status === true ? { statusUrl: `${made.url}/status` } : {};
    const args = { method: "POST", url: `${made.url}/book`, ...status, ...(more.args as object) };
    const lane = laneOf("book it");
    await on.crash(lane, [act("http_request", args)], "effect:after:http_request");
    await on.run(lane, [say("Booked.")]);
    const posts = made.seen.filter(({ method }) => method === "POST");
    const entries = await entriesOf(on.sessions);
    return { posts, verdict: dataOf(entries, "verdict").at(-1)?.verdict, result: resultsOf(entries).at(-1) };
  }

  test("with a status address: found to have happened, not sent again", async () => {
    const { posts, verdict, result } = await crashed({ status: true });
    expect([posts.length, verdict, result?.isError]).toEqual([1, "happened", false]);
  });

  test("with nothing to ask: unknown, not sent again", async () => {
    const { posts, verdict, result } = await crashed({});
    expect([posts.length, verdict, result?.isError]).toEqual([1, "unknown", true]);
    expect(JSON.stringify(result?.content)).toContain("Ask the service");
  });

  test("where the service honours the key: sent again under the same key", async () => {
    const { posts, result } = await crashed({ args: { honoursKey: true } });
    expect([posts.length, new Set(posts.map(({ key }) => key)).size]).toEqual([2, 1]);
    expect(JSON.stringify(result?.content)).toContain("booked 1");
  });
});
