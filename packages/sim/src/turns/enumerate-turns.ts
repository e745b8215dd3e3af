/**
 * All points of a story of turns: every death and refusal at every operation, and a second death in the recovery.
 *
 * A death leaves an image, so one peaceful life shows what every death would leave; equal remains are recovered from once.
 * Invariant: what is checked are facts from outside the product: the world's effects, what clients were told, what was sent.
 */
import { deathsAt, describeFault, type Fault, type Op, refusalsAt } from "../disk/faults.ts";
import { DiskImage, fingerprint } from "../disk/image.ts";
import { Machine } from "../disk/machine.ts";
import { live, type Story } from "./life.ts";
import { brokenIn } from "./promises.ts";

export interface TurnsOptions {
  /** Take every n-th operation only. */
  readonly stride?: number;
  /** A second death at every n-th operation of each recovery; none when left out. */
  readonly secondStride?: number;
  readonly refusals?: boolean;
  /** Ends with the first broken promise. */
  readonly first?: boolean;
}

export interface TurnsReport {
  readonly story: string;
  readonly operations: number;
  /** Distinct (operation, fault) and (operation, fault, operation of the recovery). */
  readonly points: number;
  readonly states: number;
  readonly violations: readonly { readonly point: string; readonly what: readonly string[] }[];
}

interface Still {
  readonly at: number;
  readonly op: Op;
  readonly before: DiskImage;
  readonly after: DiskImage;
}

const LIVES_MAX = 4;
const LIFE_MS = 120_000;

interface Run {
  readonly image: DiskImage;
  readonly nowMs: number;
  readonly stills: readonly Still[];
  readonly trouble: readonly string[];
}

const START_MS = Date.UTC(2026, 0, 5, 9);

/** One life on this image; `fault` strikes it. */
async function run(
  story: Story,
  from: { readonly image: DiskImage; readonly nowMs: number; readonly seed: number },
  how: { readonly stills?: boolean; readonly at?: number; readonly fault?: Fault } = {},
): Promise<Run> {
  const stills: Still[] = [];
  const observer = (op: Op, image: DiskImage) => {
    const before = image.clone();
    return (later: DiskImage) =>
      void stills.push({
        at: stills.length + 1,
        op: { kind: op.kind, name: op.name, bytes: op.bytes },
        before,
        after: later.clone(),
      });
  };
  const machine = new Machine({ ...from, ...(how.stills === true ? { observer } : {}) });
  const strike = how.at === undefined || how.fault === undefined ? undefined : { at: how.at, fault: how.fault };
  const process = machine.process(`life-${from.seed}`, strike);
  const trouble: string[] = [];
  const state = { over: false };
  live(story, { machine, process }).then(
    () => {
      state.over = true;
    },
    (error: unknown) => {
      state.over = true;
      if (!process.isDead) trouble.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    },
  );
  await machine.run();
  if (!state.over && !process.isDead) trouble.push("it waits for ever");
  return { image: machine.image, nowMs: Math.ceil(Number(machine.nowNs) / 1e6), stills, trouble };
}

export async function enumerateTurns(story: Story, options: TurnsOptions = {}): Promise<TurnsReport> {
  const { stride = 1, secondStride, refusals = true, first = false } = options;
  const known = new Set<string>();
  const violations: { point: string; what: readonly string[] }[] = [];
  const counts = { points: 0 };
  const image = new DiskImage();
  // The home itself was made long ago.
  for (const path of ["/home", "/home/agents", "/home/agents/main"]) image.makeDirectory(path);
  for (const path of ["/", "/home", "/home/agents"]) image.names.sync(image.at(path));

  const settle = async (point: string, left: DiskImage, nowMs: number, second: boolean): Promise<void> => {
    const print = fingerprint(left);
    if (known.has(print)) return;
    known.add(print);
    let now: Run = { image: left, nowMs: nowMs + LIFE_MS, stills: [], trouble: [] };
    for (let life = 1; life <= LIVES_MAX; life++) {
      now = await run(
        story,
        { image: now.image, nowMs: now.nowMs + LIFE_MS, seed: 100 + life },
        { stills: second && life === 1 },
      );
      if (life === 1 && second) await again(point, now.stills, nowMs);
      if (now.trouble.length === 0) break;
    }
    const what = [...now.trouble, ...brokenIn(story, now.image)];
    if (what.length > 0 && violations.length < 20) violations.push({ point, what });
  };
  const again = async (point: string, stills: readonly Still[], nowMs: number): Promise<void> => {
    for (const still of stills.filter(({ at }) => at % (secondStride ?? 1) === 0))
      for (const fault of deathsAt(still.op, false).filter(({ kind }) => kind === "kill" || kind === "power")) {
        counts.points += 1;
        await settle(`${point}; recovery: ${pointOf(still, fault)}`, remains(still, fault), nowMs, false);
      }
  };

  const peace = await run(story, { image, nowMs: START_MS, seed: 1 }, { stills: true });
  const what = [...peace.trouble, ...brokenIn(story, peace.image)];
  if (what.length > 0) violations.push({ point: "in peace", what });
  for (const still of peace.stills.filter(({ at }) => at % stride === 0)) {
    for (const fault of deathsAt(still.op, false).filter(({ kind }) => kind !== "torn")) {
      if (first && violations.length > 0) break;
      counts.points += 1;
      await settle(pointOf(still, fault), remains(still, fault), peace.nowMs, secondStride !== undefined);
    }
    for (const fault of refusals ? refusalsAt(still.op, false) : []) {
      counts.points += 1;
      const hurt = await run(story, { image, nowMs: START_MS, seed: 1 }, { at: still.at, fault });
      await settle(pointOf(still, fault), hurt.image, hurt.nowMs, false);
    }
  }
  return { story: story.name, operations: peace.stills.length, points: counts.points, states: known.size, violations };
}

function pointOf({ at, op }: Still, fault: Fault): string {
  return `operation ${at} (${op.kind} ${op.name}) ${describeFault(fault)}`;
}

function remains(still: Still, fault: Fault): DiskImage {
  if (fault.kind !== "kill" && fault.kind !== "power") throw new TypeError("played, not derived");
  const image = (fault.when === "before" ? still.before : still.after).clone();
  if (fault.kind === "power") image.losePower(fault.loss);
  return image;
}
