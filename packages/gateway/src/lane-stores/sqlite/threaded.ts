/**
 * The lanes' file behind a thread of its own: this side asks, and waits without holding up anybody else.
 *
 * Invariant: a call is answered or rejects; when the thread ends by itself, every open and every later call rejects.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "@holdfast/base";
import { GatewayError } from "../../errors.ts";
import type { Outcome, Step } from "./steps.ts";
import type { Asked, Said } from "./thread.ts";

export interface StepRunner {
  run(step: Step): Promise<Outcome>;
  close(): Promise<void>;
}

interface State {
  readonly path: string;
  readonly worker: Worker;
  readonly open: Map<number, PromiseWithResolvers<Outcome>>;
  calls: number;
  ended: GatewayError | null;
}

/** Beside this file, as source or built; a source imports sources, whatever program it runs in. */
const IS_SOURCE = import.meta.url.endsWith(".ts");
const THREAD = new URL(IS_SOURCE ? "./thread.ts" : "./thread.js", import.meta.url);
const SOURCE_OPTIONS = ["--conditions=holdfast-src", "--no-warnings"];

/** Opens or makes the file. Throws `lanes_unusable`. */
export async function openThreaded(path: string): Promise<StepRunner> {
  const worker = new Worker(THREAD, {
    workerData: path,
    name: "lanes",
    // Rows are small and short-lived.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
    ...(IS_SOURCE ? { execArgv: SOURCE_OPTIONS } : {}),
  });
  const opened = Promise.withResolvers<Outcome>();
  const state: State = { path, worker, open: new Map(), calls: 0, ended: null };
  worker.on("message", (said: Said) => {
    if (said.kind === "opened") return opened.resolve(said.outcome);
    for (const { call, outcome } of said.answers) answered(state, call).resolve(outcome);
  });
  worker.once("error", (error) => end(state, messageOf(error)));
  worker.once("exit", () => {
    end(state, "the thread that writes it ended; restart the gateway");
    opened.reject(state.ended);
  });
  const outcome = await opened.promise;
  if (outcome.kind === "error") throw new GatewayError(outcome.code, outcome.details);
  worker.unref();
  return { run: (step) => run(state, step), close: () => close(state) };
}

function answered(state: State, call: number): PromiseWithResolvers<Outcome> {
  const waiting = state.open.get(call);
  if (waiting === undefined) throw new TypeError(`the lanes' thread answered ${call}, which nobody asked`);
  state.open.delete(call);
  // The process may end between calls, never with one open.
  if (state.open.size === 0) state.worker.unref();
  return waiting;
}

function end(state: State, why: string): void {
  state.ended ??= new GatewayError("lanes_unusable", { file: state.path, why });
  for (const { reject } of state.open.values()) reject(state.ended);
  state.open.clear();
}

function post(state: State, asked: Asked): void {
  state.worker.postMessage(asked);
}

async function run(state: State, step: Step): Promise<Outcome> {
  if (state.ended !== null) throw state.ended;
  const call = state.calls++;
  const waiting = Promise.withResolvers<Outcome>();
  if (state.open.size === 0) state.worker.ref();
  state.open.set(call, waiting);
  post(state, { call, step });
  return waiting.promise;
}

async function close(state: State): Promise<void> {
  if (state.ended !== null) return;
  state.worker.ref();
  const exited = new Promise<void>((resolve) => state.worker.once("exit", () => resolve()));
  post(state, null);
  await exited;
}
