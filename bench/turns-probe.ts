/** One side of `bench/turns.ts`, in a process of its own: `gateway` or `bare`; prints a `TurnsRun` as JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { say, scriptedModel } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { createGateway, loadConfig, silentLog } from "@holdfast/gateway";
import { threadedLanes } from "@holdfast/gateway/internal";
import type { TurnsRun } from "./turns.ts";

/** What one turn without a tool writes, counted with strace: appends of about this size to the transcript, commits to the lanes. */
const APPENDS = 3;
const LINE = Buffer.from(`${"x".repeat(600)}\n`);
const COMMITS = 7;

const [kind, load] = process.argv.slice(2);
const [sessions, turns] = JSON.parse(load ?? "[]") as [number, number];
const home = mkdtempSync(join(tmpdir(), "holdfast-turns-"));

async function timed(work: () => Promise<unknown>): Promise<TurnsRun> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  delay.disable();
  return { turnsPerSecond: (sessions * turns * 1_000) / ms, stallMs: delay.max / 1e6 };
}

const each = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: sessions }, (_, index) => work(index)));

async function gateway(): Promise<TurnsRun> {
  const config = await loadConfig(home);
  const model = scriptedModel(() => say("Done."));
  const made = createGateway({
    home,
    config: { ...config, lanes: { ...config.lanes, main: sessions } },
    world: realWorld(),
    log: silentLog,
    dashboardRoot: null,
    http: null,
    model: () => model,
  });
  await made.start();
  const key = (index: number): string => `agent:main:bench:${index}`;
  await each((index) => made.send(key(index), "hello"));
  const result = await timed(() =>
    each(async (index) => {
      for (let turn = 0; turn < turns; turn++) {
        const posted = await made.send(key(index), "What is the weather like today, and what should I take with me?");
        if (posted.kind !== "answered") throw new Error(JSON.stringify(posted));
      }
    }),
  );
  await made.stop();
  return result;
}

async function bare(): Promise<TurnsRun> {
  const world = realWorld();
  const lanes = await threadedLanes(join(home, "lanes.sqlite"), world);
  const files = await each((index) => open(join(home, `${index}.jsonl`), "a"));
  const result = await timed(() =>
    each(async (index) => {
      for (let turn = 0; turn < turns; turn++) {
        for (let append = 0; append < APPENDS; append++) {
          await files[index]!.write(LINE);
          await files[index]!.datasync();
        }
        for (let commit = 0; commit < COMMITS; commit++)
          await lanes.enqueue(
            { lane: "out", key: `${index}:${turn}:${commit}`, queue: String(index), body: { text: "hello" } },
            world.nowMs(),
          );
      }
    }),
  );
  await Promise.all(files.map((file) => file.close()));
  await lanes.close();
  return result;
}

const result = await (kind === "gateway" ? gateway() : bare());
rmSync(home, { recursive: true, force: true });
process.stdout.write(JSON.stringify(result));
