/**
 * Rounds of real kills: a warm process begins to live on an empty root and gets SIGKILL at a random moment, some milliseconds after
 * a random one of the things that can be seen of it; in every other round a second one, that recovers, gets it too; then a process
 * that is left alone comes to the end.
 *
 * Facts come from this process: which effects arrived here over HTTP, which messages were acknowledged to it, what was sent.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { isObject, realWorld, tryParse } from "@holdfast/base";
import { Chance } from "../disk/chance.ts";
import { LANES, type Place, REAL_STORY, type Report } from "./real-life.ts";

const LIFE = fileURLToPath(new URL("./real-life.ts", import.meta.url));
/** Rounds at once, and warm processes that wait for theirs. */
const AT_ONCE = 3;

const clock = realWorld();

interface Facts {
  readonly effects: { readonly tool: string; readonly about: string; readonly key: string }[];
  readonly told: Set<string>;
  /** Called whenever something can be seen of a life: an effect, a look at the world, an acknowledgement. */
  seen: () => void;
}

/** A moment of a life: so long after the n-th thing that is seen of it. */
interface Moment {
  readonly seen: number;
  readonly afterMs: number;
}

const SEEN_MAX = 9;
const AFTER_MS = 25;

function momentOf(chance: Chance): Moment {
  return { seen: Math.floor(chance.next() * SEEN_MAX), afterMs: chance.next() * AFTER_MS };
}

export interface KillsReport {
  readonly rounds: number;
  readonly kills: number;
  /** Rounds in which something had happened when the kill came. */
  readonly amidst: number;
  readonly broken: readonly string[];
}

/** `rounds` rounds, at moments that follow from the seed. */
export async function realKills(rounds: number, seed: number): Promise<KillsReport> {
  const chance = new Chance(seed);
  await using server = await countingServer();
  const waiting = Array.from({ length: rounds }, (_, index) => ({
    index,
    at: [momentOf(chance), momentOf(chance)] as const,
  }));
  const counted = { kills: 0, amidst: 0 };
  const broken: string[] = [];
  const worker = async (): Promise<void> => {
    await using last = warm();
    let next = warm();
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const root = await mkdtemp(join(tmpdir(), "holdfast-real-"));
      const facts = server.begin(root);
      const times = one.index % 2 === 0 ? 1 : 2;
      for (let life = 0; life < times; life++) {
        const child = next;
        next = warm();
        if (await killedIn(child, { root, facts, url: server.url(root), at: one.at[life === 0 ? 0 : 1] }))
          counted.kills += 1;
      }
      if (facts.effects.length > 0) counted.amidst += 1;
      const error = await last.live({ root, facts, url: server.url(root) });
      const wrong = [...(error === null ? [] : [error]), ...(await wrongIn(root, facts))];
      if (wrong.length > 0) broken.push(`round ${one.index}: ${wrong.join("; ")}`);
      await rm(root, { recursive: true, force: true });
    }
    await next[Symbol.asyncDispose]();
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, rounds) }, worker));
  return { rounds, ...counted, broken };
}

/**
 * A life is killed in the middle of its turn; then `count` processes, each with a copy of its lanes, recover that turn at once.
 * Their platform knows a reply again by its key. What is wrong afterwards, and how many kills it took to hit the middle.
 */
export async function realRace(
  count: number,
  seed: number,
): Promise<{ readonly wrong: readonly string[]; readonly kills: number }> {
  const chance = new Chance(seed);
  await using server = await countingServer();
  for (let kills = 1; kills <= RACE_KILLS_MAX; kills++) {
    const root = await mkdtemp(join(tmpdir(), "holdfast-race-"));
    const living = { root, facts: server.begin(root), url: server.url(root), messages: 1 };
    await killedIn(warm(), { ...living, at: momentOf(chance) });
    const hit = isBegun(join(root, LANES));
    const wrong = hit ? await raceIn(living, count) : [];
    await rm(root, { recursive: true, force: true });
    if (hit) return { wrong, kills };
  }
  throw new Error(`${RACE_KILLS_MAX} kills, and none in the middle of the turn`);
}

const RACE_KILLS_MAX = 100;

/** The item has a place in the transcript, and is not done. */
function isBegun(lanes: string): boolean {
  if (!existsSync(lanes)) return false;
  using db = new DatabaseSync(lanes);
  const tables = db.prepare("select count(*) as count from sqlite_schema where name = 'items'").get();
  if (tables?.count !== 1) return false;
  const begun = "select count(*) as count from items where lane = 'main' and state = 'claimed' and start is not null";
  return db.prepare(begun).get()?.count === 1;
}

async function raceIn(living: Living, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `racer-${index}.sqlite`);
  for (const name of names)
    for (const end of ["", "-wal"]) {
      const from = join(living.root, `${LANES}${end}`);
      if (existsSync(from)) copyFileSync(from, join(living.root, `${name}${end}`));
    }
  const racers = names.map(() => warm());
  const errors = await Promise.all(racers.map((racer, index) => racer.live({ ...living, lanes: names[index]! })));
  await Promise.all(racers.map((racer) => racer[Symbol.asyncDispose]()));
  const { effects, told, seen } = living.facts;
  const once = effects.filter(
    ({ tool, about }, at) => tool !== "sent" || effects.findIndex((other) => other.about === about) === at,
  );
  return [
    ...errors.filter((error) => error !== null),
    ...(await wrongIn(living.root, { effects: once, told, seen }, 1)),
  ];
}

interface Living extends Pick<Place, "root" | "url" | "lanes" | "messages"> {
  readonly facts: Facts;
}

type Warm = ReturnType<typeof warm>;

/** A process that loads everything and waits; `ready` when it has. */
function warm() {
  const child: ChildProcess = fork(LIFE, { execArgv: ["--conditions=holdfast-src"], stdio: "inherit" });
  const ended = once(child, "exit");
  const ready = Promise.race([once(child, "message"), ended]);
  const live = async ({ facts, ...place }: Living): Promise<string | null> => {
    await ready;
    return await new Promise((resolve) => {
      const hear = (report: Report): void => {
        if ("told" in report) {
          facts.told.add(report.told);
          facts.seen();
        } else {
          child.off("message", hear);
          resolve(report.error);
        }
      };
      child.on("message", hear);
      void ended.then(() => resolve("it was ended"));
      child.send({ ...place, told: [...facts.told] });
    });
  };
  return {
    ready,
    live,
    kill: () => child.kill("SIGKILL"),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** True when the kill came before the end. */
async function killedIn(child: Warm, { at, ...living }: Living & { readonly at: Moment }): Promise<boolean> {
  // Of a life that is still loading nothing could be seen.
  await child.ready;
  const reached = Promise.withResolvers<void>();
  let left = at.seen;
  if (left === 0) reached.resolve();
  living.facts.seen = () => {
    left -= 1;
    if (left === 0) reached.resolve();
  };
  const over = child.live(living);
  await Promise.race([over, reached.promise.then(() => clock.sleep(at.afterMs))]);
  child.kill();
  return (await over) === "it was ended";
}

/** Counts by the root in whose life something happened. */
async function countingServer() {
  const known = new Map<string, Facts>();
  const server: Server = createServer(({ method, url = "" }, response) => {
    const [, root = "", tool = "", about = "", key = ""] = url.split("/");
    const facts = known.get(root);
    if (method === "POST") facts?.effects.push({ tool, about, key });
    facts?.seen();
    const times = facts?.effects.filter((effect) => effect.tool === tool && effect.about === about).length ?? 0;
    response.end(String(times));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const name = (root: string): string => encodeURIComponent(root);
  return {
    begin(root: string): Facts {
      const facts: Facts = { effects: [], told: new Set(), seen() {} };
      known.set(name(root), facts);
      return facts;
    },
    url: (root: string) => `http://127.0.0.1:${port}/${name(root)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** What broke, by what arrived here and by the bytes of the transcript. */
async function wrongIn(
  root: string,
  { effects, told }: Facts,
  messages = REAL_STORY.messages.length,
): Promise<readonly string[]> {
  const lines = await transcript(root);
  const times = (tool: string): number => effects.filter((effect) => effect.tool === tool).length;
  const users = lines.filter(({ message }) => isObject(message) && message.role === "user");
  const finals = lines.filter(
    ({ message }) => isObject(message) && message.role === "assistant" && message.stopReason === "stop",
  );
  const results = lines.flatMap(({ call }) =>
    isObject(call) ? [`${String(call.entryId)}#${String(call.ordinal)}`] : [],
  );
  const sent = effects.filter(({ tool }) => tool === "sent").map(({ about }) => about);
  const payKeys = new Set(effects.filter(({ tool }) => tool === "pay").map(({ key }) => key));
  return [
    ...(told.size === messages ? [] : [`${told.size} messages were acknowledged`]),
    ...(users.length === messages ? [] : [`heard ${users.length} times`]),
    ...(finals.length === messages ? [] : [`answered ${finals.length} times`]),
    ...(times("ring") <= 1 ? [] : [`rang ${times("ring")} times`]),
    ...(times("ticket") === 1 ? [] : [`${times("ticket")} tickets`]),
    ...(payKeys.size <= 1 ? [] : [`paid under ${payKeys.size} keys`]),
    ...(results.length === 4 && new Set(results).size === 4 ? [] : [`${results.length} results of 4 calls`]),
    ...(new Set(sent).size === sent.length ? [] : ["a reply was sent twice"]),
  ];
}

async function transcript(root: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const folder = join(root, "sessions");
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f-]{36}\.jsonl$/u.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.flatMap((text) => text.split("\n").map(tryParse).filter(isObject));
}
