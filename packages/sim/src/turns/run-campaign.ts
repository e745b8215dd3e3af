/**
 * `npm run campaign [-- <story>]`: every first fault of every story, and a share of the second ones; a table on stdout and, when
 * all stories were run, in docs/guide/durability.md. Exit 1 when a promise broke; then each broken point is named.
 *
 * `--long`: second faults at every operation of every recovery, in parts. `--minutes 60`: no part is begun after that. `--state file`:
 * parts that are done are kept there, and the next call goes on from there.
 *
 * `npm run campaign -- <story> --point "<name>"`: one point again, with all that can be seen at each stage (replay.ts).
 *
 * `npm run campaign -- --races`: several recoveries at once (run-races.ts).
 */
import { parseArgs } from "node:util";
import { realWorld } from "@holdfast/base";
import { addedUp, type Job, jobsOf, runJobs } from "./campaign-of-turns.ts";
import type { TurnsOptions, TurnsReport } from "./enumerate-turns.ts";
import { writeGuide } from "./guide.ts";
import { describeStage, replay } from "./replay.ts";
import { runRaces } from "./run-races.ts";
import { STORIES } from "./stories.ts";

/** The first faults whole, and after each different remains a second one at some operations of the recovery. */
const QUICK: TurnsOptions = { secondStride: 97 };
const LONG: TurnsOptions = { secondStride: 1, secondRefusalStride: 29 };
const LONG_PARTS = 61;

const { values, positionals } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    races: { type: "boolean", default: false },
    point: { type: "string" },
    minutes: { type: "string", default: "60" },
    state: { type: "string" },
  },
  allowPositionals: true,
});
if (values.races) {
  const broken = await runRaces();
  for (const line of broken) console.log(line);
  process.exit(broken.length > 0 ? 1 : 0);
}
const wanted = positionals.join(" ");
if (values.point !== undefined) {
  const story = STORIES.find(({ name }) => name === wanted);
  if (story === undefined) throw new TypeError("--point needs the name of its story before it");
  const { stages, broken } = await replay(story, values.point);
  console.log(stages.map(describeStage).join("\n\n"));
  console.log(broken.length === 0 ? "\nEvery promise is kept." : `\nBroken: ${broken.join("; ")}`);
  process.exit(broken.length > 0 ? 1 : 0);
}
const stories = STORIES.map(({ name }) => name).filter((name) => wanted === "" || name === wanted);
if (stories.length === 0) throw new TypeError(`no story ${wanted}: ${STORIES.map(({ name }) => name).join(", ")}`);

const clock = realWorld();
const startedMs = clock.monotonicMs();
const secondsSince = (): number => Math.round((clock.monotonicMs() - startedMs) / 1000);
const onPart = ({ story }: Job, { points, secondPoints, violations }: TurnsReport, left: number): void =>
  console.error(
    `${secondsSince()} s  ${story}: ${points + secondPoints} points, ${violations.length} broken; ${left} parts left`,
  );
const isOver = (): boolean => secondsSince() >= Number(values.minutes) * 60;
const kept = values.state === undefined ? {} : { state: values.state };
const jobs = values.long ? jobsOf(stories, LONG_PARTS, LONG) : jobsOf(stories, 1, QUICK);
const reports = await runJobs(jobs, { ...kept, isOver, onPart });
const sums = addedUp(reports);
const table = tableOf(sums);
console.log(`${table}\n\n${totalOf(sums)} in ${secondsSince()} s`);
for (const { story, violations } of sums)
  for (const { point, what } of violations) console.log(`${story}: ${point}\n  ${what.join("\n  ")}`);
if (wanted === "") writeGuide(values.long ? "long" : "campaign", `${table}\n\n${totalOf(sums)}.`);
process.exitCode = sums.some(({ violations }) => violations.length > 0) ? 1 : 0;

function tableOf(sums: readonly TurnsReport[]): string {
  const rows = sums.map(
    ({ story, operations, points, secondPoints, states, violations }) =>
      `| ${[story, operations, points, secondPoints, states, violations.length].join(" | ")} |`,
  );
  return [
    "| story | operations | first faults | second faults | different remains | broken promises |",
    "|---|---:|---:|---:|---:|---:|",
    ...rows,
  ].join("\n");
}

function totalOf(sums: readonly TurnsReport[]): string {
  const first = sums.reduce((sum, { points }) => sum + points, 0);
  const second = sums.reduce((sum, { secondPoints }) => sum + secondPoints, 0);
  return `${first + second} points: ${first} first faults and ${second} second ones`;
}
