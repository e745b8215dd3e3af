/**
 * One life of a gateway in the simulator: the product's own lanes, turns and deliveries, over a simulated disk and world.
 * It takes over what an earlier life left, lets clients send, works until nothing is due, and ends.
 *
 * Invariant: everything that could be lost goes through the machine, one operation at a time; nothing is kept between lives.
 */
import { type Agent, decide, type Model, scriptedModel, type ScriptedStep, type Tool } from "@holdfast/agent";
import type { ActionFolders } from "@holdfast/agent/internal";
import {
  createTurns,
  type Delivery,
  deliver,
  enqueue,
  type LaneItem,
  type LaneStore,
  memoryLanes,
  type outgoingOf,
  runningTurns,
  silentLog,
  undelivered,
} from "@holdfast/gateway/internal";
import { type Disk, openSessionsOn } from "@holdfast/sessions/internal";
import type { SimProcess } from "../disk/process.ts";
import type { Machine } from "../disk/machine.ts";
import { World } from "./outside.ts";
import { simulatedTools } from "./tools.ts";

export const KEY = "agent:main:main";
export const SESSIONS = "/home/agents/main/sessions";
const ACTIONS = "/home/actions";
const LEASE_MS = 30_000;
const CLAIMS_MAX = 200;

export interface Message {
  readonly key: string;
  readonly text: string;
  readonly mode?: "steer" | "followup" | "collect" | "interrupt";
}

export interface Story {
  readonly name: string;
  /** Sent at the beginning, by clients that send again in every life until they are told. */
  readonly messages: readonly Message[];
  /** Sent while a call of `slow` runs. */
  readonly meanwhile?: readonly Message[];
  /** What the model answers, by what it is asked. */
  readonly model: ScriptedStep;
  /** Tools that need a yes; what the person says once asked. */
  readonly approve?: readonly string[];
  readonly decision?: "yes" | "no";
  /** Breaks one rule on purpose. */
  readonly mutate?: (parts: Parts) => Parts;
}

/** What a life is made of, before it begins; a mutation changes some of it. */
export interface Parts {
  readonly store: LaneStore;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly folders: ActionFolders;
  readonly disk: Disk;
  readonly model: Model;
}

/** Runs one life to its end. */
export async function live(
  story: Story,
  { machine, process }: { readonly machine: Machine; readonly process: SimProcess },
): Promise<void> {
  const world = new World(machine, process);
  const send = async (message: Message): Promise<void> => {
    await queueing(message);
    await world.tell(message.key);
  };
  const said = { store: undefined as LaneStore | undefined };
  const running = runningTurns();
  const queueing = async (message: Message) => {
    const { text, key, mode } = message;
    const address = { channel: "sim", account: "a", chat: "c", thread: null };
    const from = { id: "owner", name: null, owner: true };
    const whole = { key, text, from, address, receivedMs: process.world.nowMs() };
    const settings = { mode: mode ?? "followup", debounceMs: 0, cap: 20, drop: "old" } as const;
    const arrival = { message: whole, asked: KEY, clientKey: null, mode: settings.mode };
    const store = said.store!;
    await enqueue(arrival, KEY, {
      store,
      world: process.world,
      running,
      settings: () => settings,
      changed() {},
      wake() {},
    });
  };
  const tools = simulatedTools(world, async () => {
    for (const message of story.meanwhile ?? []) if (!world.now.told.includes(message.key)) await send(message);
  });
  const plain: Parts = {
    store: memoryLanes(process.world, world.lanes()),
    tools,
    folders: simulatedFolders(process),
    disk: process.disk,
    model: scriptedModel(story.model as Exclude<ScriptedStep, { kind: string }>),
  };
  const parts = story.mutate?.(plain) ?? plain;
  said.store = parts.store;
  await work(story, { parts, world, process, running, send });
}

interface Life {
  readonly parts: Parts;
  readonly world: World;
  readonly process: SimProcess;
  readonly running: ReturnType<typeof runningTurns>;
  send(message: Message): Promise<void>;
}

async function work(story: Story, life: Life): Promise<void> {
  const { parts, world, process, send } = life;
  const { store, disk } = parts;
  const holder = JSON.stringify({ life: process.name });
  const options = { directory: SESSIONS, cwd: "/work", writeLock: { timeoutMs: 500 }, onProblem: () => {} };
  await using sessions = await openSessionsOn(disk, options, process.world);
  await makeFolder(disk, ACTIONS);
  await disk.syncDirectory("/home");
  const agents: { agent?: Agent } = {};
  const turns = createTurns({
    store,
    holder,
    world: process.world,
    log: silentLog,
    running: life.running,
    timeoutMs: () => 600_000,
    agent: () => agents.agent,
    changed() {},
    wakeOut() {},
  });
  agents.agent = {
    id: "main",
    sessions,
    model: parts.model,
    tools: parts.tools,
    workspace: "/nowhere",
    world: process.world,
    home: { id: "home-1", boot: "boot-1", fsync: "always", actions: ACTIONS },
    folders: parts.folders,
    holder,
    observe() {},
    allowed: (_message, tool) =>
      story.approve?.includes(tool.spec.name) === true ? { expiresInMs: 86_400_000 } : null,
    ...turns,
  };
  await store.takeOver(holder);
  for (const message of story.messages) if (!world.now.told.includes(message.key)) await send(message);
  const delivery = deliveryOf(life, holder);
  for (let claims = 0; claims < CLAIMS_MAX; claims++) {
    if (await workOnce({ store, holder, process }, "main", turns.work, turns.failed)) continue;
    if (
      await workOnce(
        { store, holder, process },
        "out",
        (item) => deliver(item, delivery),
        (item, error) => undelivered(item, delivery, error),
      )
    )
      continue;
    if (await answerApproval(story, { store, agent: agents.agent, process })) continue;
    if (!(await sleepUntilDue(store, process))) return;
  }
  throw new Error("the life does not end");
}

function deliveryOf({ parts, world, process }: Life, holder: string): Delivery {
  const send = async (outgoing: ReturnType<typeof outgoingOf>) => {
    const { to, text, entryId } = outgoing.reply;
    await world.send(`${entryId}:${to.chat}:${outgoing.part ?? 0}`, text);
    return { platformId: entryId };
  };
  const channels = new Map([["sim", { send, dedupeMs: 0 }]]);
  return { channels, store: parts.store, holder, world: process.world, log: silentLog };
}

type After = { readonly kind: "settled" } | { readonly kind: "again"; readonly delayMs: number };

async function workOnce(
  { store, holder, process }: { readonly store: LaneStore; readonly holder: string; readonly process: SimProcess },
  lane: "main" | "out",
  doing: (item: LaneItem, signal: AbortSignal) => Promise<After>,
  failed: (item: LaneItem, error: unknown) => Promise<After>,
): Promise<boolean> {
  const nowMs = process.world.nowMs();
  const item = await store.claim({ lane, holder, nowMs, leaseMs: LEASE_MS });
  if (item === undefined) return false;
  try {
    const after = await doing(item, new AbortController().signal).catch((error: unknown) => failed(item, error));
    if (after.kind === "again") {
      const notBeforeMs = process.world.nowMs() + after.delayMs;
      await store.commit(holder, [{ kind: "release", id: item.id, notBeforeMs }], process.world.nowMs());
    }
  } catch (error) {
    // The store itself failed, as runner.ts has it: the claim runs out and the item is taken again.
    if (process.isDead) throw error;
  }
  return true;
}

/** The person answers what waits, once. */
async function answerApproval(
  story: Story,
  { store, agent, process }: { readonly store: LaneStore; readonly agent: Agent; readonly process: SimProcess },
): Promise<boolean> {
  const [item] = await store.list({ lane: "main", states: ["waiting"] });
  if (item === undefined || story.decision === undefined) return false;
  const { approvals } = item.result as unknown as { readonly approvals: readonly { readonly id: string }[] };
  await using session = await agent.sessions.open(KEY);
  for (const { id } of approvals)
    await decide(session, { approval: id, decision: story.decision, by: "owner", nowMs: process.world.nowMs() });
  return store.commit("", [{ kind: "wake", id: item.id }], process.world.nowMs());
}

async function sleepUntilDue(store: LaneStore, { world }: SimProcess): Promise<boolean> {
  const dues = (await Promise.all([store.nextDue("main"), store.nextDue("out")])).filter((due) => due !== null);
  if (dues.length === 0) return false;
  await world.sleep(Math.max(1, Math.min(...dues) - world.nowMs()));
  return true;
}

async function makeFolder(disk: Disk, path: string): Promise<void> {
  await disk.makeDirectory(path).catch((error: { readonly code?: string }) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Action folders on the simulated disk. */
function simulatedFolders({ disk }: SimProcess): ActionFolders {
  const folder = (key: string): string => `${ACTIONS}/${key}`;
  const record = (key: string): string => `${folder(key)}/record.jsonl`;
  const readRecord = async (key: string): Promise<string> => {
    try {
      await using file = await disk.open(record(key), "read");
      const size = Number((await file.stat({ bigint: true } as never)).size);
      const bytes = Buffer.alloc(size);
      await file.read(bytes, 0, size, 0);
      return bytes.toString("utf8");
    } catch (error) {
      if ((error as { readonly code?: string }).code === "ENOENT") return "";
      throw error;
    }
  };
  return {
    attempt: (key, number) => `${folder(key)}/${number}`,
    async lock(key) {
      await makeFolder(disk, folder(key));
      await disk.syncDirectory(ACTIONS);
      return disk.locks.tryLock(`${folder(key)}/lock`);
    },
    async makeAttempt(key, number) {
      await makeFolder(disk, `${folder(key)}/${number}`);
      await disk.syncDirectory(folder(key));
      return `${folder(key)}/${number}`;
    },
    readRecord,
    async addToRecord(key, text) {
      await using file = await disk.open(record(key), "grow");
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
      await file.sync();
      await disk.syncDirectory(folder(key));
    },
  };
}
