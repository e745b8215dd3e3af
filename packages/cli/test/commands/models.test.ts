/** `models list` and `models test`, against local servers that answer, refuse or say nothing. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

/** Answers to one key, refuses all others. */
async function provider(good: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.headers.authorization !== `Bearer ${good}`) {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "no such key" } }));
      return;
    }
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ content: "ready" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function homeWith(config: object) {
  const dir = await temporaryDirectory();
  const home = join(dir.path, "home");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "holdfast.json"), JSON.stringify(config));
  const run = (...command: string[]) => runHere(["--home", home, "models", ...command]);
  return { run, [Symbol.asyncDispose]: dir[Symbol.asyncDispose] };
}

test("each configured model, in order, with what keeps it from being asked; each key is tested, and none is shown", async () => {
  const baseUrl = await provider("sk-good");
  await using home = await homeWith({
    models: {
      providers: {
        desk: { baseUrl, apiKey: ["sk-bad", "sk-good"], models: [{ id: "m", contextWindow: 32_000 }] },
        anthropic: { apiKey: "sk-other" },
      },
    },
    agents: {
      defaults: { model: { primary: "desk/m", fallbacks: ["openai/gpt-5.2", "anthropic/claude-sonnet-4-6"] } },
    },
  });
  const list = await home.run("list", "--json");
  expect(list.code).toBe(0);
  expect(JSON.parse(list.stdout).models).toMatchObject([
    { name: "desk/m", agent: "main", as: "primary", keys: 2, why: null, contextWindow: 32_000 },
    { name: "openai/gpt-5.2", as: "fallback", keys: 0, why: expect.stringContaining("No API key") },
    { name: "anthropic/claude-sonnet-4-6", keys: 1, contextWindow: expect.any(Number) },
  ]);
  const tested = await home.run("test", "desk/m");
  expect(tested.code).toBe(3);
  expect(tested.stdout).toMatch(
    /^no +desk\/m +auth +desk\/m answered 401: no such key\.\nok +desk\/m \(key 2\) .*ready$/mu,
  );
  expect(list.stdout + tested.stdout).not.toMatch(/sk-/u);
  expect((await home.run("list")).stdout).toMatch(/^ready +desk\/m +primary of main +window 32,000 tokens, 2 keys$/mu);
});

test("without a configuration the rehearsal model answers; an offer is listed by provider, an unknown one refused", async () => {
  await using home = await homeWith({});
  const tested = await home.run("test", "--json");
  expect([tested.code, JSON.parse(tested.stdout).tested]).toMatchObject([0, [{ name: "rehearsal/offline", ok: true }]]);
  const offer = await home.run("list", "--provider", "anthropic", "--json");
  expect(JSON.parse(offer.stdout).models.length).toBeGreaterThan(3);
  expect((await home.run("list", "--provider", "ollama")).stdout).toContain("any model it offers");
  expect((await home.run("list", "--provider", "nobody")).code).toBe(2);
  expect((await home.run("test", "nobody/m", "--json")).code).toBe(3);
});
