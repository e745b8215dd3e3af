/**
 * The story itself, in order: refused, granted, killed between doing and recording, opened again, asked about.
 * Invariant: every fact that is told comes from outside the gateway: from the file system, the transcript, the process's end.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { isObject, type World } from "@holdfast/base";
import { GatewayClient } from "../client.ts";
import { CliError } from "../errors.ts";
import { type GatewayChild, startChild } from "./child.ts";
import { type Facts, factsOf } from "./facts.ts";
import type { Narrator } from "./narrator.ts";
import type { Scene } from "./scene.ts";
import { DEMO_KEY, type Stage } from "./stage.ts";
import { narrationIn } from "./text/index.ts";
import type { Narration } from "./text/words.ts";
import { WriteWatch } from "./watch.ts";

/** Only for a process that hangs: a busy machine is slow, and not wrong. */
const HOLD_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 10;

export interface Telling {
  readonly scene: Scene;
  readonly stage: Stage;
  readonly narrator: Narrator;
  readonly world: World;
}

export interface Outcome {
  readonly killed: boolean;
  readonly writes: number;
  readonly verdict: string | null;
  readonly evidence: unknown;
  readonly answer: string;
  /** Nothing when all is as it should be, else what is not. */
  readonly wrong: readonly string[];
}

/** Tells and plays the whole story. Throws `demo_failed` when it cannot go on. */
export async function play(telling: Telling): Promise<Outcome> {
  const { scene, stage, world } = telling;
  using counting = countWrites(telling);
  const killed = await beforeTheKill(telling);
  await using second = await startChild(stage.home, {}, world);
  const { answer, facts } = await afterTheKill(telling, second, counting.watch);
  const writes = counting.watch.count;
  const { verdict, evidence } = facts;
  const wrong = whatIsWrong({ killed, writes, answer, facts, text: textOf(stage.inWorkspace(scene.todoPath)) }, scene);
  return { killed, writes, verdict, evidence, answer, wrong };
}

function countWrites({ scene, stage, world }: Telling): { readonly watch: WriteWatch } & Disposable {
  const watch = new WriteWatch(stage.notesDirectory, basename(scene.todoPath), world);
  return { watch, [Symbol.dispose]: () => watch.close() };
}

async function beforeTheKill(telling: Telling): Promise<boolean> {
  const { scene, stage, narrator, world } = telling;
  const words = narrationIn(scene.language);
  const { point, count } = scene.moment;
  await using child = await startChild(
    stage.home,
    { HOLDFAST_FAULT: `hold@${point}#${count}`, HOLDFAST_FAULT_TRACE: stage.trace },
    world,
  );
  const client = new GatewayClient({ address: child.address, token: stage.token });
  narrator.step(words.starts(child.pid));
  narrator.fact("", words.readOnly(scene.directory));
  await converse(telling, client, scene.sayFirst);
  narrator.step(words.grants(scene.directory));
  stage.grant();
  narrator.says(words.you, scene.sayAgain);
  await client.accept(DEMO_KEY, scene.sayAgain, world.newId("item"));
  await untilHeld({ stage, world, moment: scene.moment }, child);
  narrator.step(words.standsStill(point));
  tellWhatIsThere(telling, words);
  const killed = await child.kill();
  narrator.step(words.killed(child.pid));
  return killed;
}

async function converse({ scene, narrator, world }: Telling, client: GatewayClient, text: string): Promise<string> {
  narrator.says(narrationIn(scene.language).you, text);
  const { answer } = await client.ask(DEMO_KEY, text, world.newId("item"));
  narrator.says("holdfast", answer);
  return answer;
}

interface Held {
  readonly stage: Stage;
  readonly world: World;
  readonly moment: { readonly point: string; readonly count: number };
}

/** Resolves when the trace says that the process stands at the point it was told to hold at. */
export function untilHeld({ stage, world, moment: { point, count } }: Held, child: GatewayChild): Promise<void> {
  const why = `process ${child.pid} never came to ${point}`;
  return untilTrue(() => timesReached(stage.trace, point) >= count, why, { stage, world });
}

/** Throws `demo_failed` with this reason when it does not come true. */
export async function untilTrue(
  check: () => boolean,
  why: string,
  { stage, world }: Pick<Held, "stage" | "world">,
): Promise<void> {
  const startedMs = world.monotonicMs();
  while (!check()) {
    if (world.monotonicMs() - startedMs > HOLD_LIMIT_MS) throw new CliError("demo_failed", { why, home: stage.root });
    await world.sleep(LOOK_EVERY_MS);
  }
}

function timesReached(trace: string, point: string): number {
  return textOf(trace)
    .split("\n")
    .filter((line) => line.endsWith(` ${point}`)).length;
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function tellWhatIsThere({ scene, stage, narrator }: Telling, words: Narration): void {
  const seen = statSync(stage.inWorkspace(scene.todoPath), { bigint: true, throwIfNoEntry: false });
  const file = seen === undefined ? undefined : words.fileIs(scene.todoPath, Number(seen.size), String(seen.ino));
  narrator.fact(words.onDisk, file ?? words.fileIsNot(scene.todoPath));
  const { intents, results } = factsOf(stage.readTranscript());
  narrator.fact(words.inLog, words.logHas(intents, results));
}

async function afterTheKill(
  telling: Telling,
  child: GatewayChild,
  watch: WriteWatch,
): Promise<{ readonly answer: string; readonly facts: Facts }> {
  const { scene, stage, narrator, world } = telling;
  const words = narrationIn(scene.language);
  const client = new GatewayClient({ address: child.address, token: stage.token });
  narrator.step(words.startsAgain(child.pid));
  await untilAnswered(telling, client);
  const facts = factsOf(stage.readTranscript());
  narrator.mark(words.verdict, `${facts.verdict ?? "-"}: ${words.verdictMeans(facts.verdict ?? "")}`);
  narrator.fact(words.evidence, evidenceIn(facts.evidence, words));
  narrator.mark(words.writes, words.writesSeen(watch.count));
  narrator.says("holdfast", facts.answers.at(-1) ?? "");
  narrator.step(words.goesOn);
  const answer = await converse(telling, client, scene.sayAfter);
  await world.sleep(LOOK_EVERY_MS); // let the watcher hear the last notice, if there is one
  return { answer, facts: factsOf(stage.readTranscript()) };
}

/** The recorded evidence of a write, in words; as it is where it has another shape. */
function evidenceIn(evidence: unknown, words: Narration): string {
  const { planned, now, intent } = isObject(evidence) ? evidence : {};
  if (intent === null) return words.noIntent;
  if (typeof planned !== "string" || !isObject(now)) return JSON.stringify(evidence);
  return words.comparison(planned, typeof now.sha256 === "string" ? now.sha256 : null);
}

/** The interrupted message is finished by the new gateway without being asked. */
export async function untilAnswered(
  { world, stage }: Pick<Telling, "world" | "stage">,
  client: GatewayClient,
): Promise<void> {
  const startedMs = world.monotonicMs();
  while (world.monotonicMs() - startedMs < HOLD_LIMIT_MS) {
    const { items, running } = await client.snapshot(DEMO_KEY);
    const open = items.some((item) => item.state === "queued" || item.state === "running");
    if (!open && !running) return;
    await world.sleep(LOOK_EVERY_MS);
  }
  throw new CliError("demo_failed", {
    why: "the interrupted message was not finished after the restart",
    home: stage.root,
  });
}

/** What the world allows to be concluded at each moment. */
const EXPECTED: Readonly<Record<Scene["moment"]["name"], string>> = {
  "after-effect": "happened",
  "inside-effect": "absent",
  "before-effect": "absent",
  "before-intent": "not_started",
};

interface Checked {
  readonly killed: boolean;
  readonly writes: number;
  readonly answer: string;
  readonly facts: Facts;
  readonly text: string;
}

function whatIsWrong({ killed, writes, answer, facts, text }: Checked, scene: Scene): readonly string[] {
  const checks: readonly (readonly [good: boolean, what: string])[] = [
    [killed, "the process was not ended by SIGKILL"],
    [writes === 1, `${scene.todoPath} was written ${writes} times`],
    [scene.items.every((item) => text.includes(item)), `${scene.todoPath} does not hold every to-do`],
    [facts.results === 1, `the write has ${facts.results} results in the transcript`],
    [facts.verdict === EXPECTED[scene.moment.name], `the verdict is ${facts.verdict}`],
    [answer.includes(scene.items[scene.asked]!), "the answer is not about the to-do that was asked about"],
  ];
  return checks.flatMap(([good, what]) => (good ? [] : [what]));
}
