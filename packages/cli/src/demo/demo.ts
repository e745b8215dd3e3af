/**
 * `holdfast demo`: the to-do story with a real SIGKILL, in a temporary home, offline.
 * Invariant: the home and its processes are gone afterwards, also after Ctrl-C, unless --keep asked for it; with --json only
 * the transcript is left, at the path it names.
 */
import { constants } from "node:os";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { Narrator } from "./narrator.ts";
import { type Language, sceneOf } from "./scene.ts";
import { Stage } from "./stage.ts";
import { play } from "./story.ts";
import { narrationIn } from "./text/index.ts";
import { playVerdicts } from "./verdicts.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface DemoOptions {
  readonly seed: number;
  readonly lang?: Language;
  readonly keep?: boolean;
}

/** By locale, in the order in which the C library looks. */
export function languageOf(env: Readonly<Record<string, string | undefined>>): Language {
  const locale = [env.LC_ALL, env.LC_MESSAGES, env.LANG].find((value) => value !== undefined && value !== "") ?? "";
  return /^zh/i.test(locale) ? "zh" : "en";
}

/** `{ "ok", "killed", "writes", "verdict", "evidence", "answer", "transcript" }`; exit code 1 when not ok. */
export async function demo(context: CommandContext, options: DemoOptions): Promise<ExitCode> {
  const { output, world } = context;
  const startedMs = world.monotonicMs();
  const scene = sceneOf(options.seed, options.lang ?? languageOf(context.env));
  const words = narrationIn(scene.language);
  const stage = new Stage(scene, world.newId("token"));
  const narrator = new Narrator(output);
  narrator.title(words.title(scene.seed), words.home(stage.root));
  using _guard = removedOnSignal(stage, options.keep === true);
  const outcome = await play({ scene, stage, narrator, world });
  const ok = outcome.wrong.length === 0;
  const seconds = ((world.monotonicMs() - startedMs) / 1000).toFixed(1);
  narrator.end(ok, ok ? words.good(scene.todoPath, seconds) : words.bad(outcome.wrong.join("; ")));
  const transcript = cleanUp(stage, { keep: options.keep === true || !ok, json: output.json });
  if (transcript !== null) narrator.aside(words.kept(stage.root));
  if (output.json) {
    const { wrong, ...facts } = outcome;
    output.jsonLine({ ok, ...facts, transcript, seed: scene.seed, moment: scene.moment.name, wrong });
  }
  return ok ? EXIT.ok : EXIT.failed;
}

/**
 * `{ "ok", "verdicts": [{ "expected", "verdict", "result", "wrong" }] }`; exit code 1 when not ok. Homes are kept only where
 * something is wrong, or --keep asks for it.
 */
export async function verdictsDemo(context: CommandContext, options: DemoOptions): Promise<ExitCode> {
  const { output, world } = context;
  const startedMs = world.monotonicMs();
  const language = options.lang ?? languageOf(context.env);
  const words = narrationIn(language);
  const narrator = new Narrator(output);
  narrator.title(words.verdictsTitle, "");
  await using guards = new AsyncDisposableStack();
  const stages: Stage[] = [];
  const made = (stage: Stage): void => {
    stages.push(stage);
    guards.use(removedOnSignal(stage, options.keep === true));
  };
  const verdicts = await playVerdicts({ seed: options.seed, language, narrator, world, made });
  const wrong = verdicts.flatMap((shown) => shown.wrong);
  const ok = wrong.length === 0;
  const seconds = ((world.monotonicMs() - startedMs) / 1000).toFixed(1);
  narrator.end(ok, ok ? words.verdictsGood(seconds) : words.bad(wrong.join("; ")));
  for (const stage of stages) {
    if (ok && options.keep !== true) stage.remove();
    else narrator.aside(words.kept(stage.root));
  }
  if (output.json) output.jsonLine({ ok, verdicts });
  return ok ? EXIT.ok : EXIT.failed;
}

/** Until disposed: a signal removes the home (its processes die with this one) and ends the demo as that signal would. */
function removedOnSignal(stage: Stage, keep: boolean): Disposable {
  const end = (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void => {
    if (!keep) process.on("exit", () => stage.remove());
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, end);
    },
  };
}

/** What is left behind, as the path of the transcript; null when everything was removed. */
function cleanUp(stage: Stage, { keep, json }: { readonly keep: boolean; readonly json: boolean }): string | null {
  if (keep) return stage.transcript() ?? null;
  if (json) return stage.keepTranscript();
  stage.remove();
  return null;
}
