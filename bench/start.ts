/**
 * `npm run bench:start`: what starting costs. Rounds are interleaved, so a slow minute of the machine hits every row alike.
 * Prints a table of medians and ratios to `node -e 0`, and the memory of a gateway that has nothing to do.
 * Run `npm run build` first: the built program is what an installation has. Results go to bench/results/start.json.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openSessions } from "@holdfast/sessions";

const ROUNDS = Number(process.argv[2] ?? 21);
const SESSIONS = 100;
const IDLE_MS = 5_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "packages/cli/dist/main.js");
const source = ["--conditions=holdfast-src", join(root, "packages/cli/src/main.ts")];
const launcher = join(root, "packages/cli/bin/holdfast.js");

interface Row {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly ms: number[];
}

/** A Node found outside this repository, if there is one: what a person's shell would start the launcher with. */
function systemNode(): { readonly path: string; readonly version: string } | undefined {
  const path = "/usr/bin/node";
  if (!existsSync(path)) return undefined;
  return { path, version: spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim() };
}

function rows(): Row[] {
  const node = process.execPath;
  const pinned = (name: string, ...args: string[]): Row => ({ name, command: [node, ...args], ms: [] });
  const found = [
    pinned("node -e 0", "-e", "0"),
    pinned("holdfast --version", built, "--version"),
    pinned("holdfast session list", built, "session", "list"),
    pinned("holdfast --version, from sources", ...source, "--version"),
    pinned("holdfast session list, from sources", ...source, "session", "list"),
  ];
  const system = systemNode();
  if (system === undefined) return found;
  const old = (name: string, ...args: string[]): Row => ({ name, command: [system.path, ...args], ms: [] });
  return [
    ...found,
    old(`node -e 0, ${system.version}`, "-e", "0"),
    old(`holdfast --version, launched by ${system.version}`, launcher, "--version"),
  ];
}

function run(row: Row, home: string): void {
  const [file, ...args] = row.command;
  const from = performance.now();
  const result = spawnSync(file, args, { env: { ...process.env, HOLDFAST_HOME: home }, encoding: "utf8" });
  row.ms.push(performance.now() - from);
  if (result.status !== 0) throw new Error(`${row.name} ended with ${result.status}: ${result.stderr}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function fillHome(home: string): Promise<void> {
  await using sessions = await openSessions({ directory: join(home, "agents/main/sessions"), agentId: "main" });
  for (let index = 0; index < SESSIONS; index++) {
    await using session = await sessions.open(`agent:main:bench:direct:${index}`);
    await session.append({ type: "message", message: { role: "user", content: `message ${index}` } });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

/** Resident memory of a gateway that came up and then had nothing to do for IDLE_MS, in MB; undefined outside Linux. */
async function idleGatewayMb(home: string): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const port = await freePort();
  writeFileSync(join(home, "holdfast.json"), JSON.stringify({ gateway: { port } }), { mode: 0o600 });
  const gateway = spawn(process.execPath, [built, "gateway"], {
    env: { ...process.env, HOLDFAST_HOME: home },
    stdio: "ignore",
  });
  try {
    for (let tries = 0; !(await answers(`http://127.0.0.1:${port}/healthz`)); tries++) {
      if (tries === 200 || gateway.exitCode !== null) throw new Error("the gateway did not come up");
      await pause(50);
    }
    await pause(IDLE_MS);
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1024;
  } finally {
    if (gateway.kill("SIGTERM")) await once(gateway, "exit");
  }
}

function report(measured: readonly Row[], idleMb: number | undefined): void {
  const base = median(measured[0]!.ms);
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${ROUNDS} interleaved rounds\n`);
  console.log("| command | median ms | fastest ms | x node -e 0 |\n| --- | ---: | ---: | ---: |");
  for (const { name, ms } of measured) {
    const ratio = (median(ms) / base).toFixed(2);
    console.log(`| ${name} | ${median(ms).toFixed(0)} | ${Math.min(...ms).toFixed(0)} | ${ratio} |`);
  }
  if (idleMb !== undefined)
    console.log(`\nIdle gateway, resident memory after ${IDLE_MS / 1000} s: ${idleMb.toFixed(0)} MB`);
  mkdirSync(join(root, "bench/results"), { recursive: true });
  const result = { node: process.version, rounds: ROUNDS, rows: measured, idleGatewayMb: idleMb };
  writeFileSync(join(root, "bench/results/start.json"), JSON.stringify(result, null, 2));
}

if (!existsSync(built)) throw new Error("packages/cli/dist is missing; run `npm run build` first");
const home = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
try {
  await fillHome(home);
  const measured = rows();
  for (const row of measured) run(row, home);
  for (const row of measured) row.ms.length = 0;
  for (let round = 0; round < ROUNDS; round++) for (const row of measured) run(row, home);
  report(measured, await idleGatewayMb(home));
} finally {
  rmSync(home, { recursive: true, force: true });
}
