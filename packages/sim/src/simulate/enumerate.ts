/**
 * All points of a scenario: every fault at every operation, and a second one at every operation of the recovery.
 *
 * A death leaves a disk and a history, so one peaceful run shows what every death would leave; equal remains are
 * recovered from once. A refusal and a freeze change what the program does next and are played one by one.
 * Invariant: no point is left out because another one looked alike, unless disk and history are equal to the byte.
 */
import type { Disk } from "@holdfast/sessions/internal";
import { deathsAt, describeFault, type Fault, freezesAt, refusalsAt, type When } from "../disk/faults.ts";
import { fingerprint } from "../disk/image.ts";
import { type CheckOptions, conversationsIn, violationsIn } from "../history/check.ts";
import { factsOf } from "../history/disk-facts.ts";
import { History } from "../history/history.ts";
import { DIRECTORY } from "./client.ts";
import { emptyScene, type Played, type Player, play, type Scene, type Still } from "./play.ts";
import { type Recovery, TALK } from "./recoveries.ts";
import type { Scenario } from "./scenarios.ts";

export interface EnumerateOptions {
  readonly seed: number;
  /** Puts something between the engine and its disk: how the checker is shown to see. */
  readonly disk?: (disk: Disk) => Disk;
  /** Cut writes at every byte instead of three. */
  readonly everyByte?: boolean;
  /** A second fault at every operation of each recovery, or at every n-th. Left out: none. */
  readonly secondStride?: number;
  /** Take operations of this kind and name (`rename x.jsonl`) only. */
  readonly only?: RegExp;
  /** End at the first broken promise. */
  readonly untilBroken?: boolean;
  /** Take every `stride`-th operation only, from the `offset`-th on. */
  readonly stride?: number;
  readonly offset?: number;
}

export interface Violation {
  readonly scenario: string;
  /** Where it went wrong, readable and enough to play it again. */
  readonly point: string;
  readonly what: readonly string[];
}

export interface Enumerated {
  readonly scenario: string;
  readonly operations: number;
  readonly deaths: number;
  readonly refusals: number;
  readonly freezes: number;
  /** Points with a second fault in the recovery. */
  readonly second: number;
  /** Different remains that were recovered from. */
  readonly states: number;
  readonly violations: readonly Violation[];
}

/** Nothing may be damaged, and whoever comes next tidies up. */
const SOUND: CheckOptions = { mayDamage: false, isSettled: true };

type Given = Pick<CheckOptions, "originals" | "odd">;

interface Recovering {
  /** Of its process. */
  readonly name: string;
  readonly stills: boolean;
}

/** How many broken points are kept word by word. */
const VIOLATIONS_MAX = 50;

export async function enumerate(scenario: Scenario, options: EnumerateOptions): Promise<Enumerated> {
  const run = new Enumeration(scenario, options);
  return run.all();
}

class Enumeration {
  readonly #scenario: Scenario;
  readonly #recoveries: readonly Recovery[];
  /** How everything is checked, once the stage is known. */
  #always: Given = {};
  readonly #options: EnumerateOptions;
  /** Second points below each of the remains met so far. */
  readonly #known = new Map<string, number>();
  readonly #violations: Violation[] = [];
  readonly #counts = { operations: 0, deaths: 0, refusals: 0, freezes: 0, second: 0 };

  constructor(scenario: Scenario, options: EnumerateOptions) {
    this.#scenario = scenario;
    this.#recoveries = scenario.recoveries ?? [TALK];
    this.#options = options;
  }

  async all(): Promise<Enumerated> {
    const { name, before, run, prepare } = this.#scenario;
    const start = emptyScene(new History());
    prepare?.(start.image, start.history);
    const stage = before === undefined ? start : (await this.#play(start, { name: "S", run: before })).scene;
    this.#always = this.#givenIn(stage);
    const player: Player = { name: "A", run };
    const peace = await this.#play(stage, player, { stills: true });
    this.#check("in peace", peace, { mayDamage: false, isSettled: false });
    await this.#dies("in peace", peace.scene, SOUND);
    const { stride = 1, offset = 0, only = /./ } = this.#options;
    const isChosen = ({ at, op }: Still): boolean => at % stride === offset && only.test(`${op.kind} ${op.name}`);
    const stills = peace.stills.filter(isChosen);
    this.#counts.operations = peace.stills.length;
    for (const still of stills) {
      if (this.#options.untilBroken === true && this.#violations.length > 0) break;
      await this.#deaths(stage, player, still);
      await this.#refusals(stage, player, still);
      await this.#freezes(stage, player, still);
    }
    return { scenario: name, ...this.#counts, states: this.#known.size, violations: this.#violations };
  }

  /** What is there before anything goes wrong. */
  #givenIn({ image }: Scene): Given {
    const { originals = [], odd = [] } = this.#scenario;
    const facts = factsOf(image, DIRECTORY);
    const files = originals.map((path) => [path, facts.bytesAt(path) ?? Buffer.alloc(0)] as const);
    const transcripts = [...facts.transcripts].map(([id, [one]]) => [id, one?.bytes ?? Buffer.alloc(0)] as const);
    return { originals: new Map([...files, ...transcripts]), odd: new Set(odd) };
  }

  async #deaths(stage: Scene, player: Player, still: Still): Promise<void> {
    for (const fault of deathsAt(still.op, this.#options.everyByte === true)) {
      if (fault.kind === "power" && this.#scenario.fsync === "never") continue;
      this.#counts.deaths += 1;
      const torn = fault.kind === "torn";
      const left = torn
        ? (await this.#play(stage, player, { fault: { at: still.at, fault } })).scene
        : remains(still, fault);
      await this.#dies(pointOf(still, fault), left, { ...SOUND, mayDamage: damages(fault) });
    }
  }

  async #refusals(stage: Scene, player: Player, still: Still): Promise<void> {
    for (const fault of refusalsAt(still.op, false)) {
      this.#counts.refusals += 1;
      const point = pointOf(still, fault);
      const played = await this.#play(stage, player, { fault: { at: still.at, fault } });
      this.#check(point, played, { mayDamage: true, isSettled: false });
      await this.#dies(point, played.scene, { mayDamage: true, isSettled: false });
      if (this.#scenario.fsync === "never") continue;
      await this.#dies(`${point}, then power lost`, withoutPower(played.scene), { mayDamage: true, isSettled: false });
    }
  }

  async #freezes(stage: Scene, player: Player, still: Still): Promise<void> {
    for (const fault of freezesAt(still.op)) {
      this.#counts.freezes += 1;
      const meanwhile: Player = {
        name: "B",
        run: (client) => this.#recoveries[0]?.run(client, keysOf(still.before), "B") ?? client.close(),
      };
      for (const wakesUnaware of this.#scenario.lockFiles === undefined ? [false] : [false, true]) {
        const played = await this.#play(stage, player, { fault: { at: still.at, fault }, meanwhile, wakesUnaware });
        const point = `${pointOf(still, fault)}${wakesUnaware ? ", its clocks too" : ""}`;
        this.#check(point, played, { mayDamage: false, isSettled: false });
        await this.#dies(point, played.scene, SOUND);
      }
    }
  }

  /** Everybody is dead: somebody else opens what is left, goes on, and what was told must still be true. */
  async #dies(point: string, left: Scene, check: CheckOptions): Promise<void> {
    for (const recovery of this.#recoveries) await this.#diesBefore(recovery, point, left, check);
  }

  async #diesBefore(recovery: Recovery, point: string, left: Scene, check: CheckOptions): Promise<void> {
    const key = `${recovery.name} ${remainsKey(left)}`;
    const known = this.#known.get(key);
    this.#counts.second += known ?? 0;
    if (known !== undefined) return;
    this.#known.set(key, 0);
    const { secondStride } = this.#options;
    const twice = secondStride !== undefined;
    const again = await this.#recover(recovery, point, left, { name: "R", ...check, stills: twice });
    if (!twice) return;
    const stills = again.stills.filter(({ at }) => at % secondStride === 0);
    const second = stills.flatMap((still) => secondFaults(still).map((fault) => ({ still, fault })));
    this.#known.set(key, second.length);
    this.#counts.second += second.length;
    let last: Still | undefined;
    for (const { still, fault } of second) {
      // What dies before an operation leaves what dying before the last one left, if nothing was changed in between.
      const isSeen = last !== undefined && last !== still && isUnchanged(last.before, still.before);
      if (isSeen && when(fault) === "before") continue;
      if (!isSeen) last = still;
      const scene = remains(still, fault);
      const secondKey = `${recovery.name} ${remainsKey(scene)}`;
      if (this.#known.has(secondKey)) continue;
      this.#known.set(secondKey, 0);
      const where = `${point}; recovery: ${pointOf(still, fault)}`;
      const mayDamage = check.mayDamage || damages(fault);
      await this.#recover(recovery, where, scene, { name: "Q", ...check, mayDamage, stills: false });
    }
  }

  async #recover(recovery: Recovery, point: string, left: Scene, how: CheckOptions & Recovering): Promise<Played> {
    const { name, stills, ...check } = how;
    const player: Player = { name, run: (client) => recovery.run(client, keysOf(left), name) };
    const played = await this.#play(left, player, { stills });
    // Where somebody tidies up sooner or later, whoever only goes on may leave things lying about.
    const isSettled = check.isSettled && (recovery.tidies || !this.#recoveries.some(({ tidies }) => tidies));
    const mayFold = this.#scenario.lockFiles === undefined;
    const options = { ...check, isSettled, mayFold, isRecovered: true, isTidied: recovery.tidies };
    this.#check(`${point}; then ${recovery.name}`, played, options);
    return played;
  }

  #play(from: Scene, player: Player, options: Partial<Parameters<typeof play>[2]> = {}): Promise<Played> {
    const { seed, disk } = this.#options;
    // Different players draw different ids, in every run the same.
    const own = seed * 1000 + player.name.charCodeAt(0);
    const { lockFiles, fsync } = this.#scenario;
    return play(from, player, {
      seed: own,
      ...(disk && { disk }),
      ...(lockFiles && { lockFiles }),
      ...(fsync && { fsync }),
      ...options,
    });
  }

  #check(point: string, { scene, surprises }: Played, options: CheckOptions): void {
    const facts = factsOf(scene.image, DIRECTORY);
    const what = [...surprises, ...violationsIn(scene.history, facts, { ...this.#always, ...options })];
    if (what.length === 0 || this.#violations.length >= VIOLATIONS_MAX) return;
    this.#violations.push({ scenario: this.#scenario.name, point, what });
  }
}

function keysOf({ history }: Scene): readonly string[] {
  return conversationsIn(history);
}

/** The disk after a death at an operation of a peaceful run. */
function remains(still: Still, fault: Fault): Scene {
  if (fault.kind !== "kill" && fault.kind !== "power")
    throw new TypeError(`${describeFault(fault)} is played, not derived`);
  const scene = fault.when === "before" ? still.before : still.after;
  if (fault.kind === "kill") return scene;
  const image = scene.image.clone();
  image.losePower(fault.loss);
  return { ...scene, image };
}

function when(fault: Fault): When | undefined {
  return fault.kind === "kill" || fault.kind === "power" ? fault.when : undefined;
}

function isUnchanged(one: Scene, other: Scene): boolean {
  return one.history.acts === other.history.acts && other.image.isUnchangedFrom(one.image);
}

function withoutPower(scene: Scene): Scene {
  const image = scene.image.clone();
  image.losePower({ data: "lost", names: "lost" });
  return { ...scene, image };
}

function secondFaults({ op }: Still): readonly Fault[] {
  return deathsAt(op, false).filter(isPlain);
}

/** Lines torn by a second fault are left to the first one. */
function isPlain(fault: Fault): boolean {
  return fault.kind === "kill" || (fault.kind === "power" && ["lost", "kept"].includes(String(fault.loss.data)));
}

/** Whether bytes can be left that are no line. */
function damages(fault: Fault): boolean {
  return fault.kind === "torn" || (fault.kind === "power" && fault.loss.data !== "lost" && fault.loss.data !== "kept");
}

function remainsKey({ image, history }: Scene): string {
  return `${fingerprint(image)} ${history.fingerprint()}`;
}

function pointOf({ at, op }: Still, fault: Fault): string {
  return `operation ${at} (${op.kind} ${op.name}) ${describeFault(fault)}`;
}
