/** Tools of MCP servers: real servers as programs and over HTTP; what a crash leaves of their calls; servers that fail. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { act, say, scriptedModel } from "@holdfast/agent";
import { expect, onTestFinished, test, vi } from "vitest";
import type { WireSnapshot } from "../src/wire/index.ts";
import { startChild } from "./support/child.ts";
import { startGateway } from "./support/gateway.ts";
import { temporaryHome } from "./support/home.ts";
import { ask, tokenOf } from "./support/http.ts";

vi.setConfig({ testTimeout: 60_000 });

const DESK = fileURLToPath(new URL("./support/mcp-desk.mjs", import.meta.url));
const KEY = "agent:main:main";
const PROBES = {
  create_ticket: { tool: "find_ticket", arguments: { ref: "{ref}" }, happened: "^found ", absent: "^none " },
};

interface Done {
  readonly tool: string;
  readonly key: string | null;
}

async function desk(more: object = {}) {
  const home = await temporaryHome();
  const file = join(home, "done.jsonl");
  const server = { command: process.execPath, args: [DESK, file], probes: PROBES, ...more };
  const config = JSON.stringify({ tools: { mcp: { desk: server } } });
  const done = (): Done[] =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as Done)
      : [];
  return { home, config, done };
}

/** The results in the transcript, oldest first. */
async function resultsIn(home: string): Promise<readonly { readonly text: string; readonly isError: boolean }[]> {
  const { readdirSync } = await import("node:fs");
  const folder = join(home, "agents", "main", "sessions");
  const file = readdirSync(folder).find((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."))!;
  return readFileSync(join(folder, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { message?: { role: string; isError: boolean; content: { text: string }[] } })
    .flatMap(({ message }) =>
      message?.role === "toolResult" ? [{ text: message.content[0]!.text, isError: message.isError }] : [],
    );
}

test("a model is offered the tools under the server's name, and a call runs once with its key", async () => {
  const { home, config, done } = await desk();
  const model = scriptedModel([act("desk_create_ticket", { ref: "A-1" }), say("Made.")]);
  const { gateway } = await startGateway({ home, config, model });
  expect(await gateway.send(KEY, "a ticket, please")).toMatchObject({ answer: { answer: "Made." } });
  expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["read", "desk_find_ticket", "desk_create_ticket", "desk_ring_bell", "desk_set_sign"]),
  );
  expect(await resultsIn(home)).toEqual([{ text: "created A-1", isError: false }]);
  expect(done()).toMatchObject([{ tool: "create_ticket", key: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test("arguments that do not fit are refused by the server, in a result", async () => {
  const { home, config, done } = await desk();
  const model = scriptedModel([act("desk_create_ticket", { reference: 1 }), say("I see.")]);
  const { gateway } = await startGateway({ home, config, model });
  await gateway.send(KEY, "a ticket, please");
  expect(await resultsIn(home)).toMatchObject([{ text: expect.stringContaining("ref"), isError: true }]);
  expect(done()).toEqual([]);
});

/** Killed after the server did it and before the result was written down, or before it was asked; then started again. */
async function killed(point: string, message: string) {
  const { home, config, done } = await desk();
  writeFileSync(join(home, "holdfast.json"), config);
  const first = startChild(home, { HOLDFAST_FAULT: `kill@${point}` });
  const send = (address: string) =>
    ask(`${address}/api/sessions/${KEY}/messages`, {
      method: "POST",
      body: { text: message, wait: false },
      headers: { authorization: `Bearer ${tokenOf(home)}`, "idempotency-key": "k" },
    });
  await send(await first.address);
  expect(await first.ended).toBe("SIGKILL");
  const second = startChild(home);
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const address = await second.address;
  await vi.waitFor(
    async () => {
      const { items } = (await ask(`${address}/api/sessions/${KEY}/entries`, { headers })).json() as WireSnapshot;
      expect(items).toMatchObject([{ state: "done" }]);
    },
    { timeout: 30_000, interval: 50 },
  );
  second.process.kill("SIGTERM");
  await second.ended;
  return { results: await resultsIn(home), done: done() };
}

test("a call with a probe that was done before the kill is found, and not made again", async () => {
  const { results, done } = await killed("effect:after:desk_create_ticket#1", 'call desk_create_ticket {"ref":"A-1"}');
  expect(done).toHaveLength(1);
  expect(results).toMatchObject([{ text: expect.stringMatching(/it happened\.\nfound A-1$/), isError: false }]);
});

test("one that was not done is made under the same key", async () => {
  const { results, done } = await killed("effect:before:desk_create_ticket#1", 'call desk_create_ticket {"ref":"A-1"}');
  expect(done).toHaveLength(1);
  expect(results).toEqual([{ text: "created A-1", isError: false }]);
});

test("one of which nobody can tell is not made again, and the model is told", async () => {
  const { results, done } = await killed("effect:after:desk_ring_bell#1", 'call desk_ring_bell {"ref":"A-1"}');
  expect(done).toHaveLength(1);
  expect(results).toMatchObject([
    { text: expect.stringContaining("Nothing can tell whether it was done"), isError: true },
  ]);
});

test("one that changes nothing when repeated is repeated, under the same key", async () => {
  const { results, done } = await killed("effect:after:desk_set_sign#1", 'call desk_set_sign {"ref":"A-1"}');
  expect(done).toHaveLength(2);
  expect(new Set(done.map(({ key }) => key)).size).toBe(1);
  expect(results).toEqual([{ text: "set", isError: false }]);
});

test("a server that breaks down in a call: the result says that nobody knows; the next call starts it again", async () => {
  const { home, config, done } = await desk();
  const script = [act("desk_break_down", { ref: "A-1" }), act("desk_find_ticket", { ref: "A-1" }), say("Done.")];
  const { gateway } = await startGateway({ home, config, model: scriptedModel(script) });
  await gateway.send(KEY, "break it");
  const [broken, found] = await resultsIn(home);
  expect(broken).toMatchObject({ text: expect.stringContaining("Whether desk did it is not known"), isError: true });
  expect(found).toMatchObject({ text: "found A-1", isError: false });
  expect(done()).toHaveLength(1);
});

test("a server that cannot be reached is named, and everything else works", async () => {
  const { home, config } = await desk({ command: "/nonexistent/program" });
  const warned: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn: (what: string) => void warned.push(what),
    error() {},
  };
  const { gateway } = await startGateway({ home, config, log, model: scriptedModel([say("Here.")]) });
  expect(await gateway.send(KEY, "hello")).toMatchObject({ answer: { answer: "Here." } });
  expect(warned).toContainEqual(expect.stringMatching(/^the MCP server desk cannot be reached: .*ENOENT/));
});

test("a server over HTTP, with headers of its own", async () => {
  const { home, done } = await desk();
  const server = spawn(process.execPath, [DESK, join(home, "done.jsonl"), "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill());
  const [port] = (await once(server.stdout, "data")) as [Buffer];
  const mcp = {
    desk: { url: `http://127.0.0.1:${String(port).trim()}/mcp`, headers: { authorization: "Bearer sesame" } },
  };
  const model = scriptedModel([act("desk_ring_bell", { ref: "A-1" }), say("Rang.")]);
  const { gateway } = await startGateway({ home, config: JSON.stringify({ tools: { mcp } }), model });
  expect(await gateway.send(KEY, "ring")).toMatchObject({ answer: { answer: "Rang." } });
  expect(done()).toHaveLength(1);
});
