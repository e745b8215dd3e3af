/** `holdfast session context NAME --request N`: a request that was made, as it was, from what is kept on disk. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { act, say, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { createGateway, loadConfig, silentLog } from "@holdfast/gateway";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const KEY = "agent:main:web:direct:real";
const fixture = fileURLToPath(
  new URL("../../../sessions/test/fixtures/real-pi-v1-with-compactions.jsonl", import.meta.url),
);

async function withRequests(home: string) {
  const imported = await runHere(["session", "import", fixture, "--session", KEY, "--home", home]);
  expect(imported.stderr).toBe("");
  const model = scriptedModel([act("read", { path: "AGENTS.md" }), say("done"), say("刚才第二项")]);
  const config = await loadConfig(home);
  await using gateway = createGateway({
    home,
    config,
    world: realWorld(),
    log: silentLog,
    dashboardRoot: null,
    http: null,
    model: () => model,
  });
  await gateway.start();
  await gateway.send(KEY, "the first question of today");
  await gateway.send(KEY, "刚才第二项待办，能不能再拆细一点？");
  return model.requests;
}

test("a real history: the last request, byte for byte, with its parts, and what is left out", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const sent = await withRequests(home);
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runHere(["session", "context", KEY, ...args, "--home", home]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  for (const n of [1, 2, 3]) {
    const { request, missing, kept, report } = JSON.parse(await run("--request", String(n), "--json"));
    const { system, messages, tools } = sent[n - 1] ?? {};
    expect(JSON.stringify(request)).toBe(JSON.stringify({ system, messages, tools }));
    expect([missing, kept, report.n, report.messages]).toEqual([[], { first: 1, last: 3 }, n, messages?.length]);
  }
  const text = await run("--request", "last");
  expect(text).toMatch(/^Request 3 of agent:main:web:direct:real, .* to scripted\/script \(own\)\n[\d,]+ tokens/);
  expect(text).toMatch(/ AGENTS\.md +[\d.]+ (?:KB|bytes), sha256 [0-9a-f]{8}/);
  expect(text).toMatch(/newest message {2}[0-9a-f]+/);
  expect(text).toContain("刚才第二项待办");
  expect(text).toMatch(/It begins like request 2 for .* \(9\d%\) and goes on where it ended\./);
  expect(text).toMatch(/what was before is in the summary \S+\nchanged: answers that said nothing, left out ×4 \(/);
  const now = JSON.parse(await run("--json"));
  expect(now.lastRequest.n).toBe(3);
  expect(await run()).toMatch(/The last request was 3, .*; --request 3 shows it\. Kept: 1 to 3\.\n$/);
});

test("what is kept holds no key of the gateway, and a request that is not there is exit 5", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  await withRequests(home);
  const { stdout } = await runHere(["session", "show", KEY, "--json", "--home", home]);
  const { file } = JSON.parse(stdout);
  const requests = file.replace(/\.jsonl$/, ".requests");
  const { token } = JSON.parse(await readFile(join(home, "credentials.json"), "utf8"));
  const kept = await readFile(requests, "utf8");
  expect(kept).not.toContain(Object.values({ token }).find((value) => typeof value === "string") ?? "no token");
  const missing = await runHere(["session", "context", KEY, "--request", "9", "--home", home]);
  expect(missing.code).toBe(5);
  expect(missing.stderr).toContain("Request 9 of agent:main:web:direct:real is not kept; 1 to 3 are kept.");
  await rm(requests);
  const none = await runHere(["session", "context", KEY, "--request", "last", "--home", home]);
  expect([none.code, none.stderr.includes("none is kept")]).toEqual([5, true]);
  expect((await runHere(["session", "context", KEY, "--home", home])).code).toBe(0);
  expect((await runHere(["session", "context", KEY, "--request", "x", "--home", home])).code).toBe(2);
});
