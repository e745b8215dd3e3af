/**
 * All points of a story of turns: every death, refusal and freeze at every operation, and a second fault in the recovery.
 *
 * A death leaves an image, so one peaceful life shows what every death would leave; equal remains are recovered from once.
 * Invariant: what is checked are facts from outside the product: the world's effects, what clients were told, what was sent.
 */
import { deathsAt, describeFault, type Fault, freezesAt, refusalsAt } from "../disk/faults.ts";
import { DiskImage, fingerprint } from "../disk/image.ts";
import { type Left, play, playFrozen, type Run, type Still } from "./play.ts";
import { brokenIn } from "./promises.ts";
import type { Story } from "./story.ts";

export interface TurnsOptions {
  /** Take every n-th operation only, beginning with the n-th or, of several who share the work, with one's own. */
  readonly stride?: number;
  readonly offset?: number;
  /** A second death at every n-th operation of each recovery; none when left out. */
  readonly secondStride?: number;
  /** The same for a second refusal. */
  readonly secondRefusalStride?: number;
  readonly deaths?: boolean;
  readonly refusals?: boolean;
  readonly freezes?: boolean;
  /** In which order operations are done that one process asked for at the same time. */
  readonly order?: number;
  /** Ends with the first broken promise. */
  readonly first?: boolean;
}

export interface Violation {
  readonly point: string;
  readonly what: readonly string[];
}

export interface TurnsReport {
  readonly story: string;
  /** Of the peaceful life. */
  readonly operations: number;
  /** Distinct (operation, fault). */
  readonly points: number;
  /** Distinct (operation, fault, operation of the recovery, fault), for remains that differ. */
  readonly secondPoints: number;
  /** Different remains that were recovered from. */
  readonly states: number;
  readonly violations: readonly Violation[];
}

export const LIVES_MAX = 4;
const LIFE_MS = 120_000;
/** How far the machine's clock is behind after every other second fault: before anything of the story had happened. */
export const CLOCK_BACK_MS = 3_600_000;
export const RECOVERY = "; recovery: ";
export const SET_BACK = ", then the clock is set back";
export const START_MS = Date.UTC(2026, 0, 5, 9);
const VIOLATIONS_MAX = 20;
/** Seeds: lives of one run have their own, whatever came before. */
export const FIRST_SEED = 1;
export const SEEDS_OF_RECOVERY = 1_000;

export async function enumerateTurns(story: Story, options: TurnsOptions = {}): Promise<TurnsReport> {
  const { stride = 1, offset = 0, deaths = true, refusals = true, freezes = true } = options;
  const campaign = new Campaign(story, options);
  const order = options.order === undefined ? {} : { order: options.order };
  const from = { image: emptyHome(), nowMs: START_MS, seed: FIRST_SEED, ...order };
  const peace = await play(story, from, { stills: true });
  await campaign.inPeace(peace);
  for (const still of inOrder(peace.stills, options).filter(({ at }) => at % stride === offset)) {
    for (const fault of deaths ? derivedDeaths(still) : []) await campaign.first(still, fault, remains(still, fault));
    const played = [...(deaths ? tornAt(still) : []), ...(refusals ? refusalsAt(still.op, false) : [])];
    for (const fault of played) await campaign.first(still, fault, await play(story, from, { at: still.at, fault }));
    for (const fault of freezes ? freezesAt(still.op) : [])
      await campaign.first(still, fault, await playFrozen(story, from, still.at));
    if (campaign.isOver) break;
  }
  return campaign.report(peace.stills.length);
}

/** Whoever looks for one broken promise jumps about, since a broken rule shows at many neighbouring operations. */
function inOrder(stills: readonly Still[], { first = false }: TurnsOptions): readonly Still[] {
  const golden = ({ at }: Still): number => (at * 0.618034) % 1;
  return first ? stills.toSorted((a, b) => golden(a) - golden(b)) : stills;
}

/** The home itself was made long ago. */
export function emptyHome(): DiskImage {
  const image = new DiskImage();
  for (const path of ["/home", "/home/agents", "/home/agents/main"]) image.makeDirectory(path);
  for (const path of ["/", "/home", "/home/agents"]) image.names.sync(image.at(path));
  return image;
}

class Campaign {
  readonly #story: Story;
  readonly #options: TurnsOptions;
  readonly #known = new Set<string>();
  readonly #violations: Violation[] = [];
  #points = 0;
  #secondPoints = 0;

  constructor(story: Story, options: TurnsOptions) {
    this.#story = story;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#options.first === true && this.#violations.length > 0;
  }

  report(operations: number): TurnsReport {
    const counted = { points: this.#points, secondPoints: this.#secondPoints, states: this.#known.size };
    return { story: this.#story.name, operations, ...counted, violations: this.#violations };
  }

  /** A story may end its own process. */
  async inPeace(peace: Run): Promise<void> {
    if (peace.died) await this.#recover("in peace", peace, { depth: 1, stills: false, story: this.#story });
    else this.#look("in peace", peace.image, peace.trouble);
  }

  #look(point: string, image: DiskImage, trouble: readonly string[]): void {
    const what = [...trouble, ...brokenIn(this.#story, image)];
    if (what.length > 0 && this.#violations.length < VIOLATIONS_MAX) this.#violations.push({ point, what });
  }

  async first(still: Still, fault: Fault, left: Left): Promise<void> {
    this.#points += 1;
    if (this.isOver || !this.#isNew(left.image)) return;
    const point = pointOf(still, fault);
    const turn = this.#known.size;
    const { secondStride, secondRefusalStride } = this.#options;
    const goesOn = secondStride !== undefined || secondRefusalStride !== undefined;
    // What two gave up on between them is closed by the next message.
    const story = fault.kind === "freeze" ? withNext(this.#story) : this.#story;
    const stills = await this.#recover(point, left, { depth: 1, stills: goesOn, story });
    const chosen = (stride: number | undefined) =>
      stride === undefined ? [] : stills.filter(({ at }) => (at + turn) % stride === 0);
    for (const again of chosen(secondStride))
      for (const [index, second] of derivedDeaths(again).entries()) {
        const isSetBack = (again.at + turn + index) % 2 === 1;
        const remaining = remains(again, second);
        const nowMs = isSetBack ? left.nowMs - CLOCK_BACK_MS : remaining.nowMs;
        const clock = isSetBack ? SET_BACK : "";
        const name = `${point}${RECOVERY}${pointOf(again, second)}${clock}`;
        await this.#second(name, { ...remaining, nowMs }, story);
      }
    const from = { ...later(left), seed: SEEDS_OF_RECOVERY + 1 };
    for (const again of chosen(secondRefusalStride))
      for (const second of [...tornAt(again), ...refusalsAt(again.op, false)]) {
        const hurt = await play(story, from, { at: again.at, fault: second });
        await this.#second(`${point}${RECOVERY}${pointOf(again, second)}`, hurt, story);
      }
  }

  async #second(point: string, left: Left, story: Story): Promise<void> {
    this.#secondPoints += 1;
    if (!this.isOver && this.#isNew(left.image)) await this.#recover(point, left, { depth: 2, stills: false, story });
  }

  #isNew(image: DiskImage): boolean {
    const print = fingerprint(image);
    const isNew = !this.#known.has(print);
    this.#known.add(print);
    return isNew;
  }

  /** Lives follow until one ends well; then every promise is looked at. */
  async #recover(
    point: string,
    left: Left,
    { depth, stills, story }: { readonly depth: number; readonly stills: boolean; readonly story: Story },
  ): Promise<readonly Still[]> {
    let now = left;
    let trouble: readonly string[] = [];
    let seen: readonly Still[] = [];
    for (let life = 1; life <= (story.livesMax ?? LIVES_MAX); life++) {
      const seed = depth * SEEDS_OF_RECOVERY + life;
      const run = await play(story, { ...later(now), seed }, { stills: stills && life === 1 });
      if (life === 1) seen = run.stills;
      now = run;
      trouble = run.trouble;
      if (trouble.length === 0 && !run.died) break;
    }
    this.#look(point, now.image, trouble);
    return seen;
  }
}

export function withNext(story: Story): Story {
  return { ...story, messages: [...story.messages, { key: "sim:a:c:99", text: "and now?" }] };
}

/** The next life begins after everything that was leased has run out. */
export function later({ image, nowMs }: Left): Left {
  return { image, nowMs: nowMs + 2 * LIFE_MS };
}

export function pointOf({ at, op }: Still, fault: Fault): string {
  return `operation ${at} (${op.kind} ${op.name}) ${describeFault(fault)}`;
}

/** Those whose remains follow from the disk before and after the operation. */
function derivedDeaths({ op }: Still): readonly Fault[] {
  return deathsAt(op, false).filter(({ kind }) => kind !== "torn");
}

function tornAt({ op }: Still): readonly Fault[] {
  return deathsAt(op, false).filter(({ kind }) => kind === "torn");
}

export function remains(still: Still, fault: Fault): Left {
  if (fault.kind !== "kill" && fault.kind !== "power") throw new TypeError("played, not derived");
  const image = (fault.when === "before" ? still.before : still.after).clone();
  if (fault.kind === "power") image.losePower(fault.loss);
  return { image, nowMs: still.nowMs };
}
