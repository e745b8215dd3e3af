/**
 * `holdfast demo --verdicts`: four calls cut off by a real SIGKILL, one for each thing that can be known of them afterwards.
 * Invariant: what is expected is decided by what stands in the workspace when the process is killed, looked at from here.
 */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, tryParse, type World } from "@holdfast/base";
import { GatewayClient } from "../client.ts";
import { type GatewayChild, startChild } from "./child.ts";
import { factsOf } from "./facts.ts";
import type { Narrator } from "./narrator.ts";
import { type Language, sceneOf } from "./scene.ts";
import { DEMO_KEY, Stage } from "./stage.ts";
import { untilAnswered, untilHeld, untilTrue } from "./story.ts";
import { narrationIn } from "./text/index.ts";

export interface VerdictShown {
  readonly expected: "happened" | "absent" | "conflict" | "unknown";
  readonly verdict: string | null;
  /** What the model is told. */
  readonly result: string;
  readonly wrong: readonly string[];
}

interface Setting {
  readonly seed: number;
  readonly language: Language;
  readonly narrator: Narrator;
  readonly world: World;
  /** Told of every home, so that it is gone afterwards. */
  made(stage: Stage): void;
}

interface Case {
  readonly expected: VerdictShown["expected"];
  readonly tool: "write" | "exec";
  /** The fault point it stands still at; null: it is killed while the command runs. */
  readonly point: string | null;
  /** What somebody else does meanwhile. */
  readonly meanwhile?: (path: string) => void;
  /** What must be true of the workspace at the end. */
  holds(path: string, before: string): string | null;
}

const THEIRS = "somebody else was here\n";
const VISITS = "visits.txt";

const CASES: readonly Case[] = [
  {
    expected: "happened",
    tool: "write",
    point: "effect:after:write",
    holds: (path, before) => (identityOf(path) === before ? null : "the file was written again"),
  },
  {
    expected: "absent",
    tool: "write",
    point: "effect:before:write",
    holds: (path, before) => (before === "" && existsSync(path) ? null : "the file was not written"),
  },
  {
    expected: "conflict",
    tool: "write",
    point: "effect:before:write",
    meanwhile: (path) => writeFileSync(path, THEIRS),
    holds: (path) => (readFileSync(path, "utf8") === THEIRS ? null : "somebody else's file was overwritten"),
  },
  {
    expected: "unknown",
    tool: "exec",
    point: null,
    holds: (path) => (readFileSync(path, "utf8") === "visit\n" ? null : "the command ran again"),
  },
];

export async function playVerdicts(setting: Setting): Promise<readonly VerdictShown[]> {
  const shown: VerdictShown[] = [];
  for (const one of CASES) shown.push(await playOne(one, setting));
  return shown;
}

/** Size, inode and time of its last write; empty when it is not there. */
function identityOf(path: string): string {
  const seen = statSync(path, { bigint: true, throwIfNoEntry: false });
  return seen === undefined ? "" : `${seen.size}:${seen.ino}:${seen.mtimeNs}`;
}

async function playOne(one: Case, setting: Setting): Promise<VerdictShown> {
  const { narrator, world, language } = setting;
  const words = narrationIn(language);
  const scene = sceneOf(setting.seed, language);
  const stage = new Stage(scene, world.newId("token"), { approve: [] });
  setting.made(stage);
  stage.grant();
  const path = stage.inWorkspace(one.tool === "write" ? scene.todoPath : VISITS);
  const asked = one.tool === "write" ? scene.sayFirst : `run echo visit >> ${VISITS}; sleep 3`;
  narrator.step(words.verdictStep(one.expected));
  narrator.says(words.you, asked);
  const before = await cutOff(one, { ...setting, stage, path, asked });
  await using second = await startChild(stage.home, {}, world);
  await untilAnswered({ world, stage }, new GatewayClient({ address: second.address, token: stage.token }));
  const { verdict, result } = factsOf(stage.readTranscript(), one.tool);
  narrator.mark(words.verdict, `${verdict ?? "-"}: ${words.verdictMeans(verdict ?? "")}`);
  narrator.fact(words.modelReads, result);
  const broken = one.holds(path, before);
  const wrong = [
    ...(verdict === one.expected ? [] : [`${one.expected}: the verdict is ${verdict}`]),
    ...(broken === null ? [] : [`${one.expected}: ${broken}`]),
  ];
  return { expected: one.expected, verdict, result, wrong };
}

interface Cut extends Setting {
  readonly stage: Stage;
  readonly path: string;
  readonly asked: string;
}

/** Asks, and kills; returns what the file was at that moment. */
async function cutOff(one: Case, { stage, path, asked, narrator, world, language }: Cut): Promise<string> {
  const words = narrationIn(language);
  const faults: Record<string, string> =
    one.point === null ? {} : { HOLDFAST_FAULT: `hold@${one.point}#1`, HOLDFAST_FAULT_TRACE: stage.trace };
  await using child = await startChild(stage.home, faults, world);
  const client = new GatewayClient({ address: child.address, token: stage.token });
  await client.accept(DEMO_KEY, asked, world.newId("item"));
  if (one.point === null) await untilTrue(() => existsSync(path), "the command did not begin", { world, stage });
  else await untilHeld({ stage, world, moment: { point: one.point, count: 1 } }, child);
  one.meanwhile?.(path);
  const before = identityOf(path);
  const name = path.slice(stage.home.length + 1);
  const file =
    before === "" ? words.fileIsNot(name) : words.fileIs(name, Number(before.split(":")[0]), before.split(":")[1]!);
  if (one.meanwhile !== undefined) narrator.fact("", words.somebodyElse);
  narrator.fact(words.onDisk, file);
  await end(one, { child, stage });
  narrator.fact("", one.point === null ? words.everythingKilled : words.killed(child.pid));
  return before;
}

/** The command's own supervisor would know how it ended; as after a power failure, it is gone as well. */
async function end(
  one: Case,
  { child, stage }: { readonly child: GatewayChild; readonly stage: Stage },
): Promise<void> {
  await child.kill();
  if (one.point !== null) return;
  for (const file of globSync(join(stage.home, "actions/*/*/started"))) {
    const record = tryParse(readFileSync(file, "utf8"));
    if (isObject(record) && typeof record.pid === "number") process.kill(record.pid, "SIGKILL");
  }
}
