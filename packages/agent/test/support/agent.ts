/** An agent with everything real but its lane: what it was told to remember is kept in plain fields that tests look at. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bootId, identityOf, type World } from "@holdfast/base";
import type { Entry, Sessions } from "@holdfast/sessions";
import type { Agent, Arrived, Joining, Model, Observation, Reply, Tool, TurnItem } from "../../src/types.ts";

export const KEY = "agent:main:main";

/** What the lane store would hold of one item, and what observers were told. */
export interface Lane {
  item: TurnItem;
  readonly finished: Reply[];
  /** The entries with which it ended, silent ones included, and the items that ended with it. */
  readonly ended: string[];
  readonly joined: string[];
  /** What the turn is told when it asks. */
  arrived: Arrived;
  readonly observed: Observation[];
  /** What its sender was told besides answers, by key. */
  readonly told: Map<string, string>;
  /** Attempts that may still be charged. */
  budget: number;
}

export function laneOf(text: string, key = "web:local:me:1"): Lane {
  const address = { channel: "web", account: "local", chat: "me", thread: null };
  const from = { id: "me", name: "Me", owner: true };
  const message = { key, text, from, address, receivedMs: 1_782_133_293_560 };
  const item: TurnItem = { id: `item-${key}`, sessionKey: KEY, message, start: null, attempt: 1 };
  const arrived: Arrived = { stop: null, joined: [], steer: [], collect: [] };
  return { item, finished: [], ended: [], joined: [], arrived, observed: [], told: new Map(), budget: 100 };
}

export interface AgentParts {
  readonly sessions: Sessions;
  readonly model: Model;
  readonly world: World;
  readonly lane: Lane;
  readonly root: string;
  readonly workspace: string;
  readonly tools?: ReadonlyMap<string, Tool>;
  readonly holder?: string;
  readonly home?: Partial<Agent["home"]>;
  readonly allowed?: Agent["allowed"];
  readonly timeoutMs?: number;
  readonly modelIdleMs?: number;
  readonly bootstrap?: NonNullable<Agent["bootstrap"]>;
}

export async function agentOf(parts: AgentParts): Promise<Agent> {
  const { sessions, model, world, lane, root, workspace, tools = new Map(), allowed = () => null } = parts;
  const actions = join(root, "actions");
  await mkdir(actions, { recursive: true, mode: 0o700 });
  return {
    id: "main",
    sessions,
    model,
    tools,
    workspace,
    world,
    home: { id: "home-1", boot: bootId(), fsync: "always", actions, ...parts.home },
    holder: parts.holder ?? JSON.stringify(identityOf("test")),
    observe: (_key, observation) => lane.observed.push(observation),
    allowed,
    ...(parts.timeoutMs === undefined ? {} : { timeoutMs: parts.timeoutMs }),
    ...(parts.bootstrap === undefined ? {} : { bootstrap: parts.bootstrap }),
    ...(parts.modelIdleMs === undefined ? {} : { modelIdleMs: parts.modelIdleMs }),
    async began(item, start) {
      lane.item = { ...item, start };
    },
    async charge() {
      lane.budget -= 1;
      return lane.budget >= 0;
    },
    async tell(_item, { key, text }) {
      if (lane.told.has(key)) return false;
      lane.told.set(key, text);
      return true;
    },
    async arrived() {
      return lane.arrived;
    },
    async join(_item, joining) {
      const { joined, steer, collect, stop } = lane.arrived;
      const left = (waiting: readonly Joining[]) => waiting.filter((one) => !joining.includes(one));
      lane.arrived = { stop, joined: [...joined, ...joining], steer: left(steer), collect: left(collect) };
      return true;
    },
    async finish(item, { entryId, text, silent, joined }) {
      if (lane.ended.some((one) => one === entryId)) return;
      lane.ended.push(entryId);
      lane.joined.push(...joined.map(({ id }) => id));
      if (!silent) lane.finished.push({ to: item.message.address, text, entryId });
    },
  };
}

/** One word per entry: what happened, in the order of the file. */
export function outline(entries: readonly Entry[]): readonly string[] {
  return entries.map((entry) => {
    const fields = entry as unknown as Record<string, unknown>;
    if (entry.type === "custom") return String(fields.customType).replace("holdfast:", "");
    if (entry.type !== "message") return entry.type;
    const message = fields.message as Record<string, unknown>;
    if (message.role !== "assistant") return String(message.role);
    if (message.stopReason === "error") return "failure";
    const content = message.content as readonly { type: string }[];
    return content.some((block) => block.type === "toolCall") ? "calls" : "answer";
  });
}

export async function entriesOf(sessions: Sessions): Promise<readonly Entry[]> {
  await using session = await sessions.open(KEY);
  return session.since(null);
}

export function messageOf(entry: Entry | undefined): Record<string, unknown> {
  return (entry as unknown as { readonly message: Record<string, unknown> }).message;
}

/** The tool results of a log, oldest first. */
export function resultsOf(entries: readonly Entry[]): readonly Record<string, unknown>[] {
  return entries.filter((entry) => entry.type === "message" && messageOf(entry).role === "toolResult").map(messageOf);
}

/** The data of our state entries of one kind. */
export function dataOf(entries: readonly Entry[], kind: string): readonly Record<string, unknown>[] {
  const states = entries as unknown as readonly {
    readonly customType?: string;
    readonly data: Record<string, unknown>;
  }[];
  return states.filter((entry) => entry.customType === `holdfast:${kind}`).map((entry) => entry.data);
}
