/**
 * Many turns over providers that fail at random: each ends in one answer or one clear failure, within its budget of requests, and
 * nothing grows. `HOLDFAST_LARGE=1`: 1,000 turns, about a minute; else 40.
 */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { LIMITS } from "@holdfast/base";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "./support/gateway.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const TURNS = isLarge ? 1_000 : 40;
const SESSIONS = 20;
const FAILING = 0.3;

/** A sequence of numbers from 0 to 1 that a seed gives (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const chunk = (delta: object, finish_reason: string | null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const FAILURES: readonly ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(500).end("{}"),
  (response) => response.writeHead(503, { "retry-after": "1" }).end("{}"),
  (response) => response.writeHead(429).end('{"error":{"message":"slow down"}}'),
  (response) => void response.socket?.destroy(),
  (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(chunk({ content: "So f" }, null)),
  (response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`${chunk({}, "stop")}data: [DONE]\n\n`),
  (response) => response.writeHead(400).end('{"error":{"message":"bad field"}}'),
];

async function provider(seed: number) {
  const next = numbers(seed);
  const seen = { requests: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    request.resume();
    request.on("end", () => {
      if (next() < FAILING) return FAILURES[Math.floor(next() * FAILURES.length)]!(response);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${chunk({ content: "ok" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

function heapMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1e6;
}

test(`${TURNS} turns, ${FAILING * 100} % of the requests fail`, { timeout: 300_000 }, async () => {
  const [one, two] = [await provider(1), await provider(2)];
  const config = {
    lanes: { main: 8 },
    models: { providers: { one: { baseUrl: one.baseUrl }, two: { baseUrl: two.baseUrl } } },
    agents: { defaults: { model: { primary: "one/m", fallbacks: ["two/m"] } } },
  };
  const warnings: string[] = [];
  const warn = (warning: Error): void => void warnings.push(String(warning));
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const { gateway, home } = await startGateway({ config: JSON.stringify(config), model: "configured" });
  const counted = { answered: 0, failed: 0 };
  const heaps: number[] = [];
  const talk = async (session: number): Promise<void> => {
    for (let turn = session; turn < TURNS; turn += SESSIONS) {
      const posted = await gateway.send(`agent:main:soak:${session}`, `question ${turn}`);
      if (posted.kind === "answered") counted.answered += 1;
      else counted.failed += 1;
      const ended = counted.answered + counted.failed;
      if (ended % Math.ceil(TURNS / 5) === 0) heaps.push(heapMb());
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, session) => talk(session)));
  await gateway.stop();
  expect(counted.answered + counted.failed).toBe(TURNS);
  expect(counted.answered).toBeGreaterThan(TURNS * 0.85);
  expect(one.seen.requests + two.seen.requests).toBeLessThan(TURNS * LIMITS.attemptsMax);
  expect(warnings).toEqual([]);
  if (isLarge) expect(heaps.at(-1)! - heaps[1]!).toBeLessThan(20);
  const folder = join(home, "agents", "main", "sessions");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const answers = texts.flatMap((text) => text.split("\n").filter((line) => line.includes('"answers":[')));
  const answering = answers.map((line) => (JSON.parse(line) as { answers: readonly string[] }).answers[0]);
  expect([answers.length, new Set(answering).size]).toEqual([TURNS, TURNS]);
});
