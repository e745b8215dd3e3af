/** Fallbacks and keys of the configuration, through a whole gateway and a local server that refuses; rests outlive a restart. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RESTS_FILE } from "../src/rests.ts";
import { startGateway } from "./support/gateway.ts";
import { temporaryHome } from "./support/home.ts";

const KEY = "agent:main:main";

/** Refuses by key: the status, or an answer. Counts who was asked with which key. */
async function provider(statusOf: (key: string) => number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const key = request.headers.authorization?.replace("Bearer ", "") ?? "";
    asked.push(key);
    const status = statusOf(key);
    request.resume();
    if (status !== 200) {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `no, ${key}` } }));
      return;
    }
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ content: `from ${key.slice(-1)}` }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

test("the next key, then the next model; who was refused is not asked after a restart either; no key is in any file", async () => {
  const first = await provider((key) => (key.endsWith("1") ? 401 : 402));
  const second = await provider(() => 200);
  const home = await temporaryHome();
  const config = JSON.stringify({
    models: {
      providers: {
        one: { baseUrl: first.baseUrl, apiKey: ["sk-secret-1", "sk-secret-2"] },
        two: { baseUrl: second.baseUrl, apiKey: "sk-secret-3" },
      },
    },
    agents: { defaults: { model: { primary: "one/m", fallbacks: ["nobody/m", "two/m"] } } },
  });
  const started = await startGateway({ home, config, model: "configured" });
  expect(await started.gateway.send(KEY, "hi")).toMatchObject({ kind: "answered", answer: { answer: "from 3" } });
  expect([first.asked, second.asked]).toEqual([["sk-secret-1", "sk-secret-2"], ["sk-secret-3"]]);
  await started.gateway.stop();
  const kept = await readFile(join(home, RESTS_FILE), "utf8");
  expect(kept).not.toContain("sk-secret");
  expect((await stat(join(home, RESTS_FILE))).mode & 0o777).toBe(0o600);
  const again = await startGateway({ home, config, model: "configured" });
  expect(await again.gateway.send(KEY, "and now?")).toMatchObject({ answer: { answer: "from 3" } });
  expect(first.asked).toHaveLength(2);
  const folder = join(home, "agents", "main", "sessions");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  expect(texts.join("")).toContain("holdfast:attempt");
  expect(texts.join("")).not.toContain("sk-secret");
  await again.gateway.stop();
});
