/**
 * The whole campaign, shared among worker processes: each story in parts, a part being every n-th operation of it.
 * Parts that are done are written down as they end, so a long campaign that was broken off goes on where it was.
 *
 * Invariant: a part's report depends on its job alone, so it does not matter who plays it and when.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { isObject, tryParse } from "@holdfast/base";
import type { TurnsOptions, TurnsReport } from "./enumerate-turns.ts";

export interface Job {
  readonly story: string;
  readonly options: TurnsOptions;
}

export interface CampaignOptions {
  /** Where the reports of parts are kept; nowhere when left out. */
  readonly state?: string;
  /** No part is begun once this is true. */
  isOver?(): boolean;
  /** Told when a part is done. */
  onPart?(job: Job, report: TurnsReport, left: number): void;
}

const PART = fileURLToPath(new URL("./campaign-part.ts", import.meta.url));

/** Every story in `parts` parts: the first part of each, then the second of each, so that one broken off has seen them all. */
export function jobsOf(stories: readonly string[], parts: number, options: TurnsOptions): readonly Job[] {
  return Array.from({ length: parts }, (_, offset) =>
    stories.map((story) => ({ story, options: { ...options, stride: parts, offset } })),
  ).flat();
}

/** The reports of all parts, in the order of the jobs; of those that were not played, nothing. */
export async function runJobs(jobs: readonly Job[], options: CampaignOptions = {}): Promise<readonly TurnsReport[]> {
  const done = knownParts(options.state);
  const waiting = jobs.filter((job) => !done.has(nameOf(job)));
  const worker = async (): Promise<void> => {
    await using part = startPart();
    for (let job = waiting.shift(); job !== undefined && options.isOver?.() !== true; job = waiting.shift()) {
      const report = await part.play(job);
      done.set(nameOf(job), report);
      if (options.state !== undefined) appendFileSync(options.state, `${JSON.stringify({ job, report })}\n`);
      options.onPart?.(job, report, waiting.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), waiting.length) }, worker));
  return jobs.flatMap((job) => done.get(nameOf(job)) ?? []);
}

function nameOf({ story, options }: Job): string {
  return JSON.stringify([story, options]);
}

function knownParts(state: string | undefined): Map<string, TurnsReport> {
  if (state === undefined || !existsSync(state)) return new Map();
  const lines = readFileSync(state, "utf8").split("\n").map(tryParse).filter(isObject);
  return new Map(lines.map(({ job, report }) => [nameOf(job as Job), report as TurnsReport]));
}

function startPart(): { play(job: Job): Promise<TurnsReport> } & AsyncDisposable {
  const child: ChildProcess = fork(PART, { execArgv: ["--conditions=holdfast-src"] });
  const ended = once(child, "exit");
  return {
    async play(job) {
      const answer = once(child, "message");
      child.send(job);
      const [report] = await Promise.race([
        answer,
        ended.then(([code]) => Promise.reject(new Error(`the worker at ${job.story} ended with ${String(code)}`))),
      ]);
      return report as TurnsReport;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** Reports of one story added up; the operations of its peaceful life are the same in all of them. */
export function addedUp(reports: readonly TurnsReport[]): readonly TurnsReport[] {
  const sums = new Map<string, TurnsReport>();
  for (const one of reports) {
    const sum = sums.get(one.story);
    sums.set(one.story, sum === undefined ? one : added(sum, one));
  }
  return [...sums.values()];
}

function added(sum: TurnsReport, one: TurnsReport): TurnsReport {
  return {
    ...sum,
    points: sum.points + one.points,
    secondPoints: sum.secondPoints + one.secondPoints,
    states: sum.states + one.states,
    violations: [...sum.violations, ...one.violations],
  };
}
