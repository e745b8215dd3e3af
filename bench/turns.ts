/**
 * `npm run bench:turns`: 200 conversations at once, with a model that answers at once, against what the disk allows.
 *
 * Each round runs both in turn: the gateway, and a bare loop that makes as many durable commits with nothing else to do (each
 * conversation appends to a file of its own and syncs it; what all of them say to the lanes shares one transaction of SQLite).
 * Shown are turns a second, their ratio, and the longest time the gateway's event loop stood still.
 * Arguments: `--rounds=N`, `--sessions=N`, `--turns=N` (of each conversation), `--profile`. Results go to bench/results/turns.json.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface TurnsRun {
  readonly turnsPerSecond: number;
  readonly stallMs: number;
}

const here = fileURLToPath(new URL(".", import.meta.url));
const given = (name: string, otherwise: number): number =>
  Number(process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise);
const rounds = given("rounds", 5);
const load = [given("sessions", 200), given("turns", 5)];

function run(kind: "gateway" | "bare"): TurnsRun {
  const profile = process.argv.includes("--profile")
    ? ["--cpu-prof", `--cpu-prof-dir=${join(here, "results/profiles/turns")}`]
    : [];
  const command = [
    "--conditions=holdfast-src",
    "--no-warnings",
    ...profile,
    join(here, "turns-probe.ts"),
    kind,
    JSON.stringify(load),
  ];
  // What the launcher of the gateway sets.
  const child = spawnSync(process.execPath, command, {
    encoding: "utf8",
    env: { ...process.env, UV_THREADPOOL_SIZE: "16" },
  });
  if (child.status !== 0) throw new Error(`${kind} ended with ${child.status}: ${child.stderr}`);
  return JSON.parse(child.stdout) as TurnsRun;
}

const measured = Array.from({ length: rounds }, () => ({ ours: run("gateway"), bare: run("bare") }));
const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)]!;
const figure = (of: (round: (typeof measured)[number]) => number): string => {
  const values = measured.map(of).toSorted((one, other) => one - other);
  return `${median(values).toFixed(2)} (${values[0]!.toFixed(2)} - ${values.at(-1)!.toFixed(2)})`;
};
const table = [
  "| figure | goal | median (lowest - highest) |",
  "| --- | ---: | ---: |",
  `| turns a second, ${load[0]} conversations at once | (compared) | ${figure(({ ours }) => ours.turnsPerSecond)} |`,
  `| the same commits by a bare loop, turns a second | (compared) | ${figure(({ bare }) => bare.turnsPerSecond)} |`,
  `| turns : bare loop | >= 0.5 x | ${figure(({ ours, bare }) => ours.turnsPerSecond / bare.turnsPerSecond)} |`,
  `| longest stall of the event loop, ms | <= 50 | ${figure(({ ours }) => ours.stallMs)} |`,
].join("\n");
process.stdout.write(`${table}\n`);
mkdirSync(join(here, "results"), { recursive: true });
const machine = { node: process.version, cpus: cpus().length, load: loadavg() };
writeFileSync(join(here, "results/turns.json"), `${JSON.stringify({ machine, load, measured }, null, 2)}\n`);
