/**
 * One life of a gateway in the simulator: the product's own lanes, turns and deliveries, over a simulated disk and world.
 * It takes over what an earlier life left, lets clients send, works until nothing is due, and ends.
 *
 * Invariant: everything that could be lost goes through the machine, one operation at a time; nothing is kept between lives.
 */
import { type Agent, type ScriptedStep, scriptedModel } from "@holdfast/agent";
import { createTurns, enqueue, type LaneStore, memoryLanes, runningTurns, silentLog } from "@holdfast/gateway/internal";
import type { Sessions } from "@holdfast/sessions";
import { openSessionsOn } from "@holdfast/sessions/internal";
import type { Machine } from "../disk/machine.ts";
import type { SimProcess } from "../disk/process.ts";
import { makeFolder, simulatedFolders } from "./folders.ts";
import { sendAll, work } from "./loop.ts";
import { World } from "./outside.ts";
import { ACTIONS, APPROVAL_MS, KEY, type Message, type Parts, SESSIONS, type Story } from "./story.ts";
import { simulatedTools } from "./tools.ts";

export interface Place {
  readonly machine: Machine;
  readonly process: SimProcess;
  /** Which lanes are its own. */
  readonly store?: string;
  /** Before it works it copies the conversation up to an entry, and waits until its time comes. */
  readonly forks?: { readonly at: string; readonly to: string; readonly beginsMs: number } | undefined;
}

/** A workspace file, so that each turn says in the log that it had it. */
const RULES = { name: "AGENTS.md", text: "Be brief.", bytes: 9, sha256: "0".repeat(64), problem: null };
const FIRST_LIFE = "life-1";
const FIRST_HOME = "home-1";

/** What is put together only while a life runs. */
interface Late {
  sessions?: Sessions;
  agent?: Agent;
}

/** Runs one life to its end. */
export async function live(story: Story, place: Place): Promise<void> {
  const { machine, process, store: name = "home" } = place;
  const world = new World(machine, process, name);
  const later = process.name !== FIRST_LIFE;
  const home = (later ? story.laterHome : undefined) ?? FIRST_HOME;
  const effect = story.laterEffect === undefined ? {} : { effect: story.laterEffect };
  const late: Late = {};
  const running = runningTurns();
  const known: { send?: (message: Message) => Promise<void> } = {};
  const send = (message: Message): Promise<void> => known.send!(message);
  const meanwhile = async (): Promise<void> => {
    await sendAll(story.meanwhile ?? [], { story, world, send });
    if (story.branches === true) await goBack(late.sessions!);
  };
  const plain: Parts = {
    store: memoryLanes(process.world, world.lanes()),
    tools: simulatedTools(world, { meanwhile, end: () => machine.kill(process), ...(later && effect) }),
    folders: simulatedFolders(process.disk, actionsOf(home)),
    disk: process.disk,
    model: scriptedModel(story.model as Exclude<ScriptedStep, { kind: string }>),
    sessions: (sessions) => sessions,
    agent: (agent) => agent,
    send: (queue, tell) => async (message) => {
      await queue(message);
      await tell(message.key);
    },
  };
  const parts = story.mutate?.(plain) ?? plain;
  known.send = parts.send(
    (message) => queueing(message, { store: parts.store, process, running }),
    (key) => world.tell(key),
  );
  const holder = JSON.stringify({ life: process.name });
  if (later && story.interferes === true) await interfere(world);
  await begin(story, { parts, world, process, running, late, holder, home, send, forks: place.forks });
}

/** A person puts something else into the file, once. */
async function interfere(world: World): Promise<void> {
  const person = { key: "person", tool: "person", about: "a" };
  if (world.now.effects.some(({ key }) => key === person.key)) return;
  await world.act(person, ({ files }) => ({ files: { ...files, a: "theirs" } }));
}

/** Action folders are local to a home. */
function actionsOf(home: string): string {
  return home === FIRST_HOME ? ACTIONS : `${ACTIONS}-${home}`;
}

async function queueing(
  { text, key, mode }: Message,
  {
    store,
    process,
    running,
  }: { readonly store: LaneStore; readonly process: SimProcess; readonly running: ReturnType<typeof runningTurns> },
): Promise<void> {
  const address = { channel: "sim", account: "a", chat: "c", thread: null };
  const from = { id: "owner", name: null, owner: true };
  const whole = { key, text, from, address, receivedMs: process.world.nowMs() };
  const settings = { mode: mode ?? "followup", debounceMs: 0, cap: 20, drop: "old" } as const;
  const arrival = { message: whole, asked: KEY, clientKey: null, mode: settings.mode };
  const rest = { world: process.world, running, settings: () => settings, changed() {}, wake() {} };
  await enqueue(arrival, KEY, { store, ...rest });
}

interface Beginning {
  readonly parts: Parts;
  readonly world: World;
  readonly process: SimProcess;
  readonly running: ReturnType<typeof runningTurns>;
  readonly late: Late;
  readonly holder: string;
  readonly home: string;
  readonly forks: Place["forks"];
  send(message: Message): Promise<void>;
}

async function begin(story: Story, beginning: Beginning): Promise<void> {
  const { parts, world, process, running, late, holder, home, send } = beginning;
  const { store, disk } = parts;
  const options = { directory: SESSIONS, cwd: "/work", writeLock: { timeoutMs: 500 }, onProblem: () => {} };
  await using opened = await openSessionsOn(disk, options, process.world);
  const sessions = parts.sessions(opened);
  late.sessions = sessions;
  const { forks } = beginning;
  if (forks !== undefined) {
    await sessions.keep.fork(KEY, forks.to, { entryId: forks.at });
    await process.world.sleep(forks.beginsMs - process.world.nowMs());
  }
  await makeFolder(disk, actionsOf(home));
  await disk.syncDirectory("/home");
  const turns = createTurns({
    store,
    holder,
    world: process.world,
    log: silentLog,
    running,
    timeoutMs: () => 600_000,
    agent: () => late.agent,
    changed() {},
    wakeOut() {},
  });
  const agent: Agent = {
    id: "main",
    sessions,
    model: parts.model,
    tools: parts.tools,
    workspace: "/nowhere",
    bootstrap: { read: async () => ({ files: [RULES], skills: [] }) },
    world: process.world,
    home: { id: home, boot: "boot-1", fsync: "always", actions: actionsOf(home) },
    folders: parts.folders,
    holder,
    observe() {},
    allowed: (_message, tool) =>
      story.approve?.includes(tool.spec.name) === true ? { expiresInMs: APPROVAL_MS } : null,
    ...turns,
  };
  late.agent = parts.agent(agent);
  await work({ story, store, world, process, holder, agent: late.agent, turns, send });
}

/** A person moves the conversation back to its first question, once. */
async function goBack(sessions: Sessions): Promise<void> {
  await using session = await sessions.open(KEY);
  const all = await session.since(null);
  const moved = all.some(
    (entry) => (entry as { readonly data?: { readonly reason?: unknown } }).data?.reason === "person",
  );
  const first = all.find(({ type }) => type === "thinking_level_change");
  if (first !== undefined && !moved) await session.branch(first.id, { reason: "person" });
}
