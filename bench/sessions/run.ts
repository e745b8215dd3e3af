/**
 * `npm run bench:sessions`: what the session engine costs, against physical limits and Pi, as ratios.
 *
 * Every round runs every step once, each in a process of its own, so a slow minute of the machine hits all alike; a
 * figure is computed within its round, and what is shown is the median over the rounds, with the lowest and the highest.
 * Arguments: `--quick` (one small round without Pi, below a minute), `--rounds=N`, `--only=open|append|rows`, `--no-peers`,
 * `--profile` (a CPU profile of each step in bench/results/profiles). Results go to bench/results/sessions.json.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chatsOf, storeOf, transcriptOf } from "./data.ts";
import { FIGURES, type Figure, type Round } from "./figures.ts";
import { installPi } from "./peers.ts";

interface Step {
  readonly name: string;
  readonly group: string;
  readonly probe: string;
  readonly args: readonly unknown[];
  /** Threads of the pool that disk calls run in; Node's default is 4. */
  readonly threads?: number;
}

const CHATS = 800;

const results = fileURLToPath(new URL("../results/", import.meta.url));
const probeFile = fileURLToPath(new URL("./probe.ts", import.meta.url));
const flags = new Set(process.argv.slice(2));
const isQuick = flags.has("--quick");
const given = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3);
const rounds = Number(given("rounds") ?? (isQuick ? 1 : 5));

async function steps(): Promise<readonly Step[]> {
  const small = transcriptOf(1_000);
  const large = transcriptOf(100_000);
  const live = transcriptOf(100_000, false);
  const few = await storeOf(100);
  const many = await storeOf(100_000);
  const appends = isQuick ? 40 : 100;
  const peers = isQuick || flags.has("--no-peers") ? [] : [installPi()];
  const step = (group: string, name: string, probe: string, args: readonly unknown[], threads = 4): Step => {
    return { name, group, probe, args, threads };
  };
  return [
    step("open", "limit-large", "limit", [large]),
    step("open", "open-alone", "sessionAlone", [large]),
    step("open", "index-cold", "indexCold", [large]),
    step("open", "index-warm", "indexWarm", [large]),
    step("open", "scan", "lineScan", [large]),
    step("open", "open-large", "session", [large]),
    step("open", "open-small", "session", [small]),
    step("open", "context", "context", [large]),
    step("open", "warm", "warm", [large]),
    step("open", "open-stall", "openingStall", [live]),
    step("open", "index-stall", "indexStall", [large]),
    step("open", "chats", "chats", [chatsOf(CHATS), CHATS]),
    ...peers.map((directory) => step("open", "pi", "pi", [large, directory])),
    step("append", "append", "oneSession", ["always", appends]),
    step("append", "append-many-4", "manySessions", ["always", appends]),
    step("append", "append-many-16", "manySessions", ["always", appends], 16),
    step("append", "append-never", "oneSession", ["never", appends * 5]),
    step("rows", "update-large", "update", [many, 100_000, appends]),
    step("rows", "update-small", "update", [few, 100, appends]),
    step("rows", "list", "list", [many]),
    step("rows", "start", "start", [many]),
    step("rows", "fold", "fold", [many]),
  ].filter(({ group }) => given("only") === undefined || given("only") === group);
}

function run(step: Step): Round {
  const profile = join(results, "profiles", step.name);
  const options = flags.has("--profile") ? ["--cpu-prof", `--cpu-prof-dir=${profile}`, "--cpu-prof-interval=200"] : [];
  const command = [
    "--conditions=holdfast-src",
    // For the probes: garbage of loading is collected before the clock starts.
    "--expose-gc",
    ...options,
    probeFile,
    step.group,
    step.probe,
    JSON.stringify(step.args),
  ];
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(step.threads) };
  const child = spawnSync(process.execPath, command, { env, encoding: "utf8" });
  if (child.status !== 0) throw new Error(`${step.name} ended with ${child.status}: ${child.stderr}`);
  const values = JSON.parse(child.stdout) as Record<string, number>;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${step.name}.${name}`, value]));
}

function sorted(figure: Figure, all: readonly Round[]): readonly { readonly value: number; readonly round: Round }[] {
  const found = all.map((round) => ({ value: figure.of(round), round }));
  return found.filter(({ value }) => !Number.isNaN(value)).sort((a, b) => a.value - b.value);
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** The table, and how many goals were missed. */
function report(all: readonly Round[]): number {
  console.log("| figure | goal | measured | lowest - highest | met | of the median round |");
  console.log("| --- | ---: | ---: | ---: | :---: | --- |");
  let missed = 0;
  for (const figure of FIGURES) {
    const values = sorted(figure, all);
    const median = values[Math.floor(values.length / 2)];
    if (median === undefined) continue;
    const met = figure.isMet?.(median.value);
    if (met === false) missed += 1;
    const range = `${shown(values[0]!.value)} - ${shown(values.at(-1)!.value)}`;
    const verdict = met === undefined ? "" : met ? "yes" : "NO";
    const note = figure.note?.(median.round) ?? "";
    console.log(
      `| ${figure.name} | ${figure.goal} | ${shown(median.value)} ${figure.unit} | ${range} | ${verdict} | ${note} |`,
    );
  }
  return missed;
}

const all: Round[] = [];
const list = await steps();
const load = { before: loadavg()[0]!, after: Number.NaN };
if (flags.has("--profile")) rmSync(join(results, "profiles"), { recursive: true, force: true });
for (let round = 0; round < rounds; round++) {
  const found: Record<string, number> = {};
  for (const step of list) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kround ${round + 1} of ${rounds}: ${step.name}`);
    Object.assign(found, run(step));
  }
  all.push(found);
}
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
load.after = loadavg()[0]!;
console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${rounds} rounds; load ${shown(load.before)} before, ${shown(load.after)} after\n`,
);
const missed = report(all);
console.log(`\n${missed === 0 ? "All goals are met." : `${missed} goals are missed.`}`);
mkdirSync(results, { recursive: true });
writeFileSync(join(results, "sessions.json"), JSON.stringify({ node: process.version, rounds: all, load }, null, 2));
