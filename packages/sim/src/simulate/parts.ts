/**
 * Enumerations shared among worker processes: each scenario in parts, a part being every n-th operation of it.
 * Invariant: what a part finds depends on its job alone, so it does not matter who plays it and when.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Enumerated, EnumerateOptions } from "./enumerate.ts";

export interface Job {
  readonly scenario: string;
  /** Without what cannot be sent. */
  readonly options: Omit<EnumerateOptions, "disk" | "only">;
}

const PART = fileURLToPath(new URL("./part.ts", import.meta.url));

/**
 * One row for each scenario, in the order given; the last are begun first, so put there what takes longest. Equal remains
 * are known within a part only: few parts cost least. `onDone` is told of each.
 */
export async function enumerateAll(
  scenarios: readonly string[],
  options: Job["options"],
  { parts = 1, onDone = () => {} }: { readonly parts?: number; readonly onDone?: (done: Enumerated) => void } = {},
): Promise<Enumerated[]> {
  const jobs = scenarios
    .toReversed()
    .flatMap((scenario) =>
      Array.from({ length: parts }, (_, offset): Job => ({ scenario, options: { ...options, stride: parts, offset } })),
    );
  const done: Enumerated[] = [];
  const worker = async (): Promise<void> => {
    await using part = startPart();
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const enumerated = await part.play(job);
      done.push(enumerated);
      onDone(enumerated);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, worker));
  return scenarios.map((name) => joined(done.filter(({ scenario }) => scenario === name)));
}

function joined(parts: readonly Enumerated[]): Enumerated {
  const [first] = parts;
  if (first === undefined) throw new TypeError("a scenario without a part");
  const sum = (count: (one: Enumerated) => number): number => parts.reduce((all, part) => all + count(part), 0);
  return {
    ...first,
    deaths: sum(({ deaths }) => deaths),
    refusals: sum(({ refusals }) => refusals),
    freezes: sum(({ freezes }) => freezes),
    second: sum(({ second }) => second),
    states: sum(({ states }) => states),
    violations: parts.flatMap(({ violations }) => violations),
  };
}

function startPart(): { play(job: Job): Promise<Enumerated> } & AsyncDisposable {
  const child: ChildProcess = fork(PART, { execArgv: ["--conditions=holdfast-src"] });
  const ended = once(child, "exit");
  return {
    async play(job) {
      const answer = once(child, "message");
      child.send(job);
      const broken = ended.then(([code]) => {
        throw new Error(`the worker at ${job.scenario} ended with ${String(code)}`);
      });
      const [enumerated] = await Promise.race([answer, broken]);
      return enumerated as Enumerated;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
