/**
 * A life on real files, in a process that may be killed at any moment: the lanes in SQLite, the transcript on disk, kernel locks,
 * the agent's own rules; its tools act on the parent over HTTP, which counts. Loaded and warm, it waits for the place to live in.
 *
 * Invariant: what is told to clients and what is done in the world is known to the parent, not to this process.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { act, type Agent, say, scriptedModel, type ScriptedStep, type Tool } from "@holdfast/agent";
import { identityOf, realWorld, type World } from "@holdfast/base";
import { createTurns, enqueue, runningTurns, silentLog, sqliteLanes } from "@holdfast/gateway/internal";
import { openSessions } from "@holdfast/sessions";
import { work } from "./loop.ts";
import { KEY, type Message, type Story } from "./story.ts";
import { steps } from "./stories.ts";

/** What the parent sends once it got `{ ready }`; it gets `{ told }` for each acknowledgement and `{ over, error }` at the end. */
export interface Place {
  readonly root: string;
  /** Where effects are counted. */
  readonly url: string;
  readonly told: readonly string[];
  /** Its lanes, where each of several has some of its own. */
  readonly lanes?: string;
  /** How many of the messages are sent; all when left out. */
  readonly messages?: number;
}

export type Report = { readonly told: string } | { readonly over: true; readonly error: string | null };

export const LANES = "lanes.sqlite";

const asked = steps(
  act("ring", { name: "bell" }),
  act("ticket", { name: "T" }, { tool: "ticket", args: { name: "T" } }, { tool: "pay", args: { name: "bill" } }),
  say("all done"),
);

export const REAL_STORY: Story = {
  name: "real files",
  messages: [
    { key: "sim:a:c:1", text: "do it" },
    { key: "sim:a:c:2", text: "and again" },
  ],
  model: asked,
};

const spec = (name: string) => ({ name, description: name, parameters: { type: "object" } }) as const;

/** `ring`: nobody can tell; `ticket`: a business act that can be looked up; `pay`: repeated under its key. */
function countedTools(url: string): ReadonlyMap<string, Tool> {
  const called = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(`${url}/${path}`, { method });
    return await answer.text();
  };
  const tool = (name: string, more: Partial<Tool>): Tool => ({
    spec: spec(name),
    effect: "opaque",
    check: () => null,
    run: async (args, _evidence, { key }) => ({
      ok: true,
      text: await called("POST", `${name}/${String(args.name)}/${key}`),
    }),
    ...more,
  });
  const ticket = tool("ticket", {
    effect: "checkable",
    identity: (args) => String(args.name),
    async probe(args, evidence) {
      const times = Number(await called("GET", `ticket/${String(args.name)}`));
      if (times > 0) return { kind: "happened", outcome: { ok: true, text: "there is a ticket" }, evidence };
      return { kind: "absent", evidence, says: "there is no ticket" };
    },
  });
  return new Map([tool("ring", {}), ticket, tool("pay", { effect: "idempotent" })].map((one) => [one.spec.name, one]));
}

async function live({ root, url, told, lanes, messages }: Place, tell: (key: string) => void): Promise<void> {
  const world = realWorld();
  const actions = join(root, "actions");
  await mkdir(actions, { recursive: true, mode: 0o700 });
  const store = sqliteLanes(join(root, lanes ?? LANES), world);
  const known = new Set(told);
  await using sessions = await openSessions({ directory: join(root, "sessions") }, world);
  const holder = JSON.stringify(identityOf("gateway"));
  const running = runningTurns();
  const agents: { agent?: Agent } = {};
  const rest = { log: silentLog, running, timeoutMs: () => 60_000, changed() {}, wakeOut() {} };
  const turns = createTurns({ store, holder, world, agent: () => agents.agent, ...rest });
  const own = { id: "home-1", boot: identityOf("").boot, fsync: "always", actions } as const;
  const model = scriptedModel(REAL_STORY.model as Exclude<ScriptedStep, { kind: string }>);
  const made = { id: "main", sessions, model, tools: countedTools(url), workspace: root, world, home: own, holder };
  const agent: Agent = { ...made, observe() {}, allowed: () => null, ...turns };
  agents.agent = agent;
  const outside = {
    now: { told },
    tell: async (key: string) => tell(key),
    send: async ({ key }: { readonly key: string }) => {
      await fetch(`${url}/sent/${encodeURIComponent(key)}/-`, { method: "POST" });
    },
  };
  const send = async (message: Message): Promise<void> => {
    await queueing(message, { store, world, running });
    if (!known.has(message.key)) await outside.tell(message.key);
  };
  await work({
    story: { ...REAL_STORY, messages: REAL_STORY.messages.slice(0, messages) },
    store,
    world: outside,
    process: { world, isDead: false },
    holder,
    agent,
    turns,
    send,
  });
  await store.close();
}

async function queueing(
  { key, text }: Message,
  rest: Pick<Parameters<typeof enqueue>[2], "store" | "running"> & { readonly world: World },
): Promise<void> {
  const address = { channel: "sim", account: "a", chat: "c", thread: null };
  const from = { id: "owner", name: null, owner: true };
  const message = { key, text, from, address, receivedMs: rest.world.nowMs() };
  const settings = () => ({ mode: "followup", debounceMs: 0, cap: 20, drop: "old" }) as const;
  const arrival = { message, asked: KEY, clientKey: null, mode: "followup" } as const;
  await enqueue(arrival, KEY, { ...rest, settings, changed() {}, wake() {} });
}

if (process.argv[1] === import.meta.filename) {
  const report = (one: Report): void => void process.send?.(one);
  process.send?.({ ready: true });
  process.on("message", (place: Place) => {
    live(place, (told) => report({ told })).then(
      () => report({ over: true, error: null }),
      (error: unknown) => report({ over: true, error: error instanceof Error ? (error.stack ?? "") : String(error) }),
    );
  });
}
