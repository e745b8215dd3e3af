/**
 * One point of a story played again, with everything that can be seen at each stage: `npm run campaign -- "<story>" --point "<point>"`.
 *
 * Invariant: a point's name says all that is needed; what is broken here is what the campaign found there.
 */
import { isObject } from "@holdfast/base";
import { deathsAt, describeFault, type Fault, refusalsAt } from "../disk/faults.ts";
import type { DiskImage } from "../disk/image.ts";
import {
  CLOCK_BACK_MS,
  emptyHome,
  FIRST_SEED,
  later,
  LIVES_MAX,
  RECOVERY,
  remains,
  SEEDS_OF_RECOVERY,
  SET_BACK,
  START_MS,
  withNext,
} from "./enumerate-turns.ts";
import { outsideOf } from "./outside.ts";
import { type From, type Left, play, playFrozen, type Still } from "./play.ts";
import { brokenIn, transcriptLines } from "./promises.ts";
import type { Story } from "./story.ts";

export interface Stage {
  readonly title: string;
  readonly image: DiskImage;
}

export interface Replayed {
  readonly stages: readonly Stage[];
  readonly broken: readonly string[];
}

/** Throws `TypeError` for a name that no point of the story has. */
export async function replay(story: Story, point: string): Promise<Replayed> {
  const [first = "", second] = point.split(RECOVERY);
  const from = (): From => ({ image: emptyHome(), nowMs: START_MS, seed: FIRST_SEED });
  const peace = await play(story, from(), { stills: true });
  const struck = await strike(story, { stills: peace.stills, name: first, from });
  const told = first.endsWith(" frozen") ? withNext(story) : story;
  const stages = [{ title: first, image: struck.image.clone() }];
  if (second === undefined) return recover(told, struck, { depth: 1, stages });
  const again = (): From => ({ ...later(struck), image: struck.image.clone(), seed: SEEDS_OF_RECOVERY + 1 });
  const { stills } = await play(told, again(), { stills: true });
  const name = second.endsWith(SET_BACK) ? second.slice(0, -SET_BACK.length) : second;
  const hurt = await strike(told, { stills, name, from: again });
  const nowMs = name === second ? hurt.nowMs : struck.nowMs - CLOCK_BACK_MS;
  return recover(
    told,
    { image: hurt.image, nowMs },
    { depth: 2, stages: [...stages, { title: second, image: hurt.image.clone() }] },
  );
}

async function strike(
  story: Story,
  { stills, name, from }: { readonly stills: readonly Still[]; readonly name: string; readonly from: () => From },
): Promise<Left> {
  const [, number, what] = /^operation (\d+) \(.*?\) (.+)$/u.exec(name) ?? [];
  const still = stills.find(({ at }) => at === Number(number));
  if (still === undefined) throw new TypeError(`no such point: ${name}`);
  if (what === "frozen") return playFrozen(story, from(), still.at);
  const faults: readonly Fault[] = [...deathsAt(still.op, false), ...refusalsAt(still.op, false)];
  const fault = faults.find((each) => describeFault(each) === what);
  if (fault === undefined) throw new TypeError(`no such fault: ${what}; ${faults.map(describeFault).join("; ")}`);
  const isDerived = fault.kind === "kill" || fault.kind === "power";
  return isDerived ? remains(still, fault) : play(story, from(), { at: still.at, fault });
}

async function recover(
  story: Story,
  left: Left,
  { depth, stages }: { readonly depth: number; readonly stages: readonly Stage[] },
): Promise<Replayed> {
  let now = left;
  for (let life = 1; ; life++) {
    const run = await play(story, { ...later(now), seed: depth * SEEDS_OF_RECOVERY + life });
    now = run;
    const isOver = run.trouble.length === 0 && !run.died;
    if (!isOver && life < (story.livesMax ?? LIVES_MAX)) continue;
    const broken = [...run.trouble, ...brokenIn(story, run.image)];
    return { stages: [...stages, { title: "the end", image: run.image }], broken };
  }
}

/** What can be seen: the world, the lanes, and the transcript's entries. */
export function describeStage({ title, image }: Stage): string {
  const { effects, told, sent, lanes } = outsideOf(image);
  const rows = Object.values(lanes).flat().filter(isObject);
  return [
    `== ${title}`,
    `effects: ${effects.map(({ tool, about, key }) => `${tool} ${about} (${key.slice(0, 8)})`).join(", ")}`,
    `told: ${told.join(", ")}`,
    `sent: ${sent.map(({ key, text }) => `${key} ${JSON.stringify(text)}`).join(", ")}`,
    ...rows.map(({ lane, key, state, claims, result }) =>
      [`lane ${String(lane)}`, String(key).slice(0, 12), state, `claims ${String(claims)}`, shown(result)].join("  "),
    ),
    ...transcriptLines(image).map(({ type, id, parentId, customType, message, data, t, answers }) => {
      const inner = isObject(message) ? message : {};
      const what = String(inner.role ?? customType ?? type);
      const turn = t === undefined ? "" : `turn ${String(t)}`;
      return `${String(id)} < ${String(parentId)}  ${what} ${turn} ${answers === undefined ? "" : `answers ${String(answers)}`} ${shown(inner.content ?? data)}`;
    }),
  ].join("\n");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

const SHOWN_CHARS = 160;
