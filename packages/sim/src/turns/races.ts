/**
 * Several gateways recover the same turn at the same time: each has lanes of its own with the same item, all share the
 * transcript, and chance decides whose operation is next. Six properties are looked at (the names are those of arXiv 2608.03836):
 *
 *   prefix continuation      what was in the log stays, byte for byte, and only grows
 *   exactly-once effect      the effect is there once, whoever made it (or never, where nobody could tell)
 *   fork determinism         copies that the racers take at one entry hold the same conversation
 *   checkpoint validity      at every moment the log can be opened, undamaged, and no call has two results
 *   consume-once             the message is heard once, a yes is used once, one reply leaves
 *   recovery determinism     the same remains in the same order give the same bytes; in any order the same conversation
 *
 * Invariant: a race is a function of the remains, the number of racers and the order.
 */
import { isObject } from "@holdfast/base";
import { openSessionsOn } from "@holdfast/sessions/internal";
import type { Op } from "../disk/faults.ts";
import { type DiskImage, fingerprint } from "../disk/image.ts";
import { Machine } from "../disk/machine.ts";
import { emptyHome } from "./enumerate-turns.ts";
import { live } from "./life.ts";
import { outsideOf } from "./outside.ts";
import { type Left, play, type Still } from "./play.ts";
import { brokenIn, type Line, transcriptLines } from "./promises.ts";
import { KEY, SESSIONS, type Story } from "./story.ts";

export const PROPERTIES = [
  "prefix continuation",
  "exactly-once effect",
  "fork determinism",
  "checkpoint validity",
  "consume-once",
  "recovery determinism",
] as const;
export type Property = (typeof PROPERTIES)[number];

/** Where a property does not hold, in words. */
export type Found = Readonly<Record<Property, readonly string[]>>;

const START_MS = Date.UTC(2026, 0, 5, 9);
const LATER_MS = 240_000;
/** Every so many operations of a race the log is opened by somebody else. */
const CHECK_EVERY = 25;
/** As long as a short wait for a lock, so that nobody is through before another has looked again. */
const OPERATION_NS = 1_000_000n;
/** By then all have taken their copies. */
const COPIES_MS = 60_000;

/** The story as several gateways share it: their platform knows a reply again. */
export function shared(story: Story): Story {
  return { ...story, platform: { dedupeMs: Number.POSITIVE_INFINITY } };
}

/** What a kill after each n-th operation leaves, once the item has begun and its sender was told. */
export async function remainsOf(story: Story, every: number): Promise<readonly Left[]> {
  const peace = await play(story, { image: emptyHome(), nowMs: START_MS, seed: 1 }, { stills: true });
  const begun = peace.stills.filter(({ after }) => isBegun(after));
  return begun.filter((_, index) => index % every === 0).map(({ after }) => ({ image: after, nowMs: peace.nowMs }));
}

interface Item {
  readonly lane: string;
  readonly state: string;
  readonly start: unknown;
}

function isBegun(image: DiskImage): boolean {
  const rows = (outsideOf(image).lanes.home ?? []) as readonly Item[];
  return rows.some(({ lane, start, state }) => lane === "main" && start !== null && state === "claimed");
}

export interface Race extends Left {
  readonly trouble: readonly string[];
  readonly stills: readonly Still[];
}

/** `count` gateways come to their ends, in the order that the seed gives. */
export async function race(
  story: Story,
  left: Left,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<Race> {
  const stills: Still[] = [];
  const seen = { operations: 0 };
  const observer = ({ kind, name, bytes }: Op, before: DiskImage) => {
    const copied = ++seen.operations % CHECK_EVERY === 0 ? before.clone() : undefined;
    return (after: DiskImage) => {
      if (copied !== undefined)
        stills.push({ at: seen.operations, op: { kind, name, bytes }, nowMs, before: copied, after: after.clone() });
    };
  };
  const nowMs = left.nowMs + LATER_MS;
  const machine = new Machine({
    image: withLanes(left.image, count),
    nowMs,
    seed,
    shuffle: true,
    operationNs: OPERATION_NS,
    observer,
  });
  const fork = forkPoint(left.image);
  const beginsMs = nowMs + COPIES_MS;
  const trouble: string[] = [];
  for (let racer = 1; racer <= count; racer++) {
    const process = machine.process(`racer-${racer}`);
    const place = {
      machine,
      process,
      store: `lanes-${racer}`,
      forks: fork === undefined ? undefined : { at: fork, to: `agent:main:fork-${racer}`, beginsMs },
    };
    live(story, place).catch((error: unknown) =>
      trouble.push(error instanceof Error ? (error.stack ?? "") : String(error)),
    );
  }
  await machine.run();
  return { image: machine.image, nowMs: Math.ceil(Number(machine.nowNs) / 1e6), trouble, stills };
}

/** Each racer has a copy of the dead gateway's lanes. */
function withLanes(image: DiskImage, count: number): DiskImage {
  const copy = image.clone();
  const outside = outsideOf(image);
  const names = Array.from({ length: count }, (_, index) => `lanes-${index + 1}`);
  copy.outside = { ...outside, lanes: Object.fromEntries(names.map((name) => [name, outside.lanes.home ?? []])) };
  return copy;
}

/** The entry the racers copy the conversation at: the last one that was there. */
function forkPoint(image: DiskImage): string | undefined {
  return transcriptLines(image)
    .map(({ id }) => id)
    .findLast((id): id is string => typeof id === "string");
}

/** Several places, added up. `races`: how many were run. */
export async function racesOf(
  story: Story,
  { every, ...how }: { readonly every: number; readonly count: number; readonly seeds: readonly number[] },
): Promise<{ readonly places: number; readonly races: number; readonly found: Found }> {
  const places = await remainsOf(story, every);
  const all: Found[] = [];
  for (const left of places) all.push(await propertiesOf(story, left, how));
  const of = (property: Property) => [property, all.flatMap((one) => one[property])] as const;
  const found = Object.fromEntries(PROPERTIES.map(of)) as unknown as Found;
  return { places: places.length, races: places.length * (how.seeds.length + 1), found };
}

/** Races from one place, in several orders, and the first order twice. */
export async function propertiesOf(
  story: Story,
  left: Left,
  { count, seeds }: { readonly count: number; readonly seeds: readonly number[] },
): Promise<Found> {
  const races: Race[] = [];
  for (const seed of seeds) races.push(await race(story, left, { count, seed }));
  const again = await race(story, left, { count, seed: seeds[0]! });
  const all = async (look: (one: Race) => readonly string[] | Promise<readonly string[]>): Promise<readonly string[]> =>
    (await Promise.all(races.map(look))).flat();
  return {
    "prefix continuation": await all((one) => prefixBroken(left.image, one.image)),
    "exactly-once effect": await all((one) => [...one.trouble, ...brokenIn(story, one.image)]),
    "fork determinism": await all(forksDiffer),
    "checkpoint validity": await all(checkpointsBroken),
    "consume-once": await all((one) => consumedTwice(one.image)),
    "recovery determinism": [
      ...(fingerprint(races[0]!.image) === fingerprint(again.image) ? [] : ["the same order gave other bytes"]),
      ...(new Set(races.map(({ image }) => conversationIn(image))).size === 1
        ? []
        : ["another order gave another conversation"]),
    ],
  };
}

function bytesOf(image: DiskImage): readonly (readonly [string, Buffer])[] {
  const directory = image.at(SESSIONS);
  const names = image.names.list(directory).map(([name]) => name);
  return names
    .filter((name) => /^[0-9a-f-]{36}\.jsonl$/u.test(name))
    .map((name) => [name, image.inode(image.at(`${SESSIONS}/${name}`)).content.cache]);
}

function prefixBroken(before: DiskImage, after: DiskImage): readonly string[] {
  const now = new Map(bytesOf(after));
  return bytesOf(before).flatMap(([name, bytes]) =>
    now.get(name)?.subarray(0, bytes.length).equals(bytes) === true ? [] : [`${name} does not begin as it was`],
  );
}

function consumedTwice(image: DiskImage): readonly string[] {
  const lines = transcriptLines(image);
  const heard = lines.flatMap(({ message }) =>
    isObject(message) && message.role === "user" ? [String(message.key)] : [],
  );
  const used = lines.flatMap(({ approved }) => (typeof approved === "string" ? [approved] : []));
  const twice = (names: readonly string[]): readonly string[] => names.filter((name, at) => names.indexOf(name) !== at);
  const texts = outsideOf(image).sent.map(({ key }) => key);
  return [
    ...twice(heard).map((key) => `${key} was heard twice`),
    ...twice(used).map((id) => `the yes ${id} was used twice`),
    ...twice(texts).map((key) => `${key} was sent twice`),
  ];
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/gu;

/** What people and the model read, without ids and times. */
function conversationIn(image: DiskImage): string {
  return JSON.stringify(transcriptLines(image).flatMap(said)).replaceAll(TIME, "then");
}

function said({ message }: Line): readonly unknown[] {
  if (!isObject(message)) return [];
  const { role, isError = null, content } = message;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return [[role, isError, blocks.map(({ type, text, name, arguments: args }) => ({ type, text, name, args }))]];
}

async function forksDiffer({ image, nowMs }: Race): Promise<readonly string[]> {
  const contexts = await opened({ image, nowMs }, async (sessions) => {
    const forks = (await sessions.list()).filter(({ key }) => key.startsWith("agent:main:fork-"));
    return Promise.all(
      forks.map(async ({ key }) => {
        await using session = await sessions.open(key);
        return JSON.stringify((await session.context()).messages.map((message) => ({ ...message, timestamp: 0 })));
      }),
    );
  });
  return new Set(contexts).size <= 1 ? [] : [`${new Set(contexts).size} different copies`];
}

async function checkpointsBroken({ stills, nowMs }: Race): Promise<readonly string[]> {
  const found = await Promise.all(
    stills.map(({ at, after }) =>
      opened({ image: after, nowMs }, async (sessions) => {
        if ((await sessions.get(KEY)) === undefined) return [];
        await using session = await sessions.open(KEY);
        const all = await session.since(null);
        const calls = all.flatMap(({ call }) =>
          isObject(call) ? [`${String(call.entryId)}#${String(call.ordinal)}`] : [],
        );
        const { gaps, duplicates } = session.report;
        return new Set(calls).size === calls.length && gaps.length === 0 && duplicates.length === 0
          ? []
          : [`after operation ${at} the log has gaps, or a call has two results`];
      }),
    ),
  );
  return found.flat();
}

/** Somebody else opens what is there, on a machine of their own. */
async function opened<T>(
  { image, nowMs }: Left,
  look: (sessions: Awaited<ReturnType<typeof openSessionsOn>>) => Promise<T>,
): Promise<T> {
  const machine = new Machine({ image, nowMs: nowMs + LATER_MS, seed: 77 });
  const { disk, world } = machine.process("reader");
  const looking = (async () => {
    await using sessions = await openSessionsOn(disk, { directory: SESSIONS, onProblem: () => {} }, world);
    return await look(sessions);
  })();
  looking.catch(() => undefined);
  await machine.run();
  return looking;
}
