/**
 * The composition root: the only file that knows everyone. Parts receive narrow ports and never see each other.
 *
 * Order of a start: home (lock) → lanes → agents → what an earlier process had claimed goes back to its lane → runners →
 * HTTP. A stop goes the other way; what is at work is put back or finished, uncharged.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Agent, AgentError } from "@holdfast/agent";
import { messageOf } from "@holdfast/base";
import { accept, type Receipt } from "./accept.ts";
import { defaultAgent, type OpenAgents, openAgents } from "./agents.ts";
import { wireItem } from "./bodies.ts";
import type { Channel } from "./channels.ts";
import { type WebArrival, webChannel } from "./channels/web.ts";
import { gatewayToken, readCredentials } from "./config/credentials.ts";
import type { AgentConfig, Config } from "./config/schema.ts";
import { deliver, undelivered } from "./deliver.ts";
import { GatewayError } from "./errors.ts";
import type { Gateway, GatewayOptions } from "./gateway-contract.ts";
import { type Home, openHome, runsElsewhere, whileOurs } from "./home.ts";
import type { HttpServer } from "./http/server.ts";
import type { LaneStore } from "./lanes.ts";
import { createHub, type Hub } from "./live/hub.ts";
import { observer } from "./live/observe.ts";
import { createWaiting, type Waiting } from "./live/waiting.ts";
import { modelOf } from "./models.ts";
import { keptRests } from "./rests.ts";
import { post } from "./post.ts";
import { enqueue } from "./queue/enqueue.ts";
import { type Revision, revise } from "./queue/revise.ts";
import { expireApprovals } from "./queue/look.ts";
import { settingsFor } from "./queue/plan.ts";
import { type RunningTurns, runningTurns } from "./queue/running.ts";
import { cleanUpAgents, keepAgentsTidy } from "./retention.ts";
import { agentOf, mainKey, type Routing, route } from "./routes.ts";
import { type Runner, startRunner } from "./runner.ts";
import { sweepEvery } from "./sweep.ts";
import { createTurns, type Turns } from "./turns.ts";
import { openUsage } from "./usage/book.ts";

export type { Gateway, GatewayOptions, SendOptions } from "./gateway-contract.ts";

/** Replies that are sent at once. */
const SENDS_MAX = 8;
const FORGET_EVERY_MS = 3_600_000;
const EXPIRE_EVERY_MS = 5_000;
/** How often the home's lock is looked at, besides at every claim and message. */
const LOOK_AT_HOME_MS = 1_000;

/** Everything that exists while the gateway runs. */
interface Running {
  readonly home: Home;
  readonly store: LaneStore;
  readonly opened: OpenAgents;
  readonly runners: { readonly main: Runner; readonly out: Runner };
  readonly timers: readonly Disposable[];
  readonly tidying: AsyncDisposable;
  readonly http: HttpServer | null;
}

/** Opens nothing yet. */
export function createGateway(options: GatewayOptions): Gateway {
  const hub = createHub(options.world);
  const waiting = createWaiting();
  const state: { running: Running | null } = { running: null };
  const web = webChannel(options.world, ({ itemId }) => waiting.notify(itemId));
  const lost = Promise.withResolvers<GatewayError>();
  const parts: Parts = { options, hub, waiting, web, state, running: runningTurns(), lose: lost.resolve };
  return {
    hub,
    lost: lost.promise,
    defaultSession: mainKey(defaultAgent(options.config).id),
    get address() {
      return state.running?.http?.address ?? null;
    },
    signInLink: () => state.running?.http?.signInLink() ?? null,
    async start() {
      state.running ??= await start(parts);
    },
    async stop() {
      const running = state.running;
      state.running = null;
      if (running !== null) await stop(running);
    },
    async send(
      sessionKey,
      text,
      { wait = true, clientKey, mode = "followup", signal = new AbortController().signal } = {},
    ) {
      const request = { sessionKey, text, clientKey: clientKey ?? null, mode, wait, signal };
      return post(request, { store: need(state).store, waiting, accept: (arrival) => acceptWeb(parts, arrival) });
    },
    async open(sessionKey) {
      const states = ["queued", "claimed", "waiting"] as const;
      return (await need(state).store.list({ lane: "main", queue: sessionKey, states })).map(wireItem);
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
}

interface Parts {
  readonly options: GatewayOptions;
  readonly hub: Hub;
  readonly waiting: Waiting;
  readonly web: Channel<WebArrival>;
  readonly state: { running: Running | null };
  readonly running: RunningTurns;
  lose(reason: GatewayError): void;
}

function need(state: Parts["state"]): Running {
  if (state.running === null) throw new GatewayError("stopping");
  return state.running;
}

function routing(config: Config): Routing {
  const agents = config.agents.list.map((agent) => agent.id);
  return { agents, defaultAgent: defaultAgent(config).id, dmScope: config.sessions.dmScope };
}

async function acceptWeb(parts: Parts, arrival: WebArrival): Promise<Receipt> {
  const { options, hub, web, state, running } = parts;
  const { store, runners } = need(state);
  const { world, log, config } = options;
  return accept(arrival, web, {
    route: (parsed) => route(parsed, routing(config)),
    async refuse(parsed, refusal) {
      log.warn("a message was refused", { code: refusal.code, channel: parsed.message.address.channel });
      return refusal;
    },
    async enqueue(parsed, sessionKey) {
      const { fresh, item } = await enqueue(parsed, sessionKey, {
        store,
        world,
        running,
        settings: ({ address }) => settingsFor(address.channel, config.queue),
        changed: (itemId) => told(parts, store, itemId),
        wake() {
          runners.main.wake();
          runners.out.wake();
        },
      });
      if (fresh) hub.publish(sessionKey, { type: "item", item: wireItem(item) });
      return { kind: fresh ? "accepted" : "duplicate", item };
    },
    async revise(parsed, sessionKey) {
      const { key, text } = parsed.message;
      const revision: Revision = parsed.revision === "deleted" ? { kind: "deleted" } : { kind: "edited", text };
      const changed = (itemId: string): void => told(parts, store, itemId);
      const item = await revise((each) => each.key === key, { sessionKey, revision }, { store, world, changed });
      return item === null ? { kind: "too_late" } : { kind: "revised", item };
    },
  });
}

async function start(parts: Parts): Promise<Running> {
  const { options } = parts;
  const { world, log } = options;
  const home = await openHome(options.home, world);
  await using undo = new AsyncDisposableStack();
  undo.defer(() => home.release());
  if (home.previous !== null) log.warn("taking over from a gateway that did not stop", { pid: home.previous.pid });
  const { threadedLanes } = await import("./lane-stores/sqlite.ts");
  const fresh = isEmpty(join(home.path, "lanes.sqlite"));
  const opening = threadedLanes(join(home.path, "lanes.sqlite"), world);
  // The largest module, loaded while the thread starts.
  const [made] = await Promise.all([opening, options.http === null ? null : import("./http/server.ts")]);
  const lanes = undo.adopt(made, (store) => store.close());
  const store = whileOurs(lanes, home);
  const holder = JSON.stringify({ home: home.id, ...home.identity });
  const credentials = await readCredentials(home.path);
  if (credentials.tightened) log.warn("credentials.json could be read by others; it is 0600 now");
  const token = options.config.gateway.auth.token ?? (await gatewayToken(home.path, credentials, world));
  const known: { agents: ReadonlyMap<string, Agent> } = { agents: new Map() };
  const ring = { out: () => {} };
  const turns = turnsOf(parts, { store, holder, agents: () => known.agents, wakeOut: () => ring.out() });
  const { apiKeys } = credentials;
  const { rests, written } = await keptRests(home.path, { world, log });
  undo.defer(written);
  const model = options.model ?? ((agent: AgentConfig) => modelOf(agent, { ...options, apiKeys, rests }));
  const usage = await openUsage({ home: home.path, config: options.config, world, log });
  undo.defer(() => usage.written());
  const observe = usage.watching(observer(parts.hub));
  const secrets = [token, ...Object.values(apiKeys).flat()];
  const opened = await openAgents({
    ...options,
    home,
    holder,
    secrets,
    observe,
    turns,
    model,
    maySpend: usage.maySpend,
  });
  undo.defer(() => opened.close());
  known.agents = opened.agents;
  if (fresh && (await anySession(known.agents)))
    log.warn(
      "lanes.sqlite is new, but there are conversations: messages that were waiting in an earlier one are not answered",
    );
  const returned = await store.takeOver(holder, runsElsewhere);
  if (returned > 0) log.info("work of an earlier process goes on", { items: returned });
  const runners = startRunners(parts, { store, holder, turns });
  ring.out = runners.out.wake;
  undo.defer(() => stopRunners(runners));
  const wake = (): void => {
    runners.main.wake();
    runners.out.wake();
  };
  const http = await listen(parts, { store, agents: known.agents, token, wake });
  if (http !== null) home.announce(http.address);
  const sweeping = sweepEvery({ home: home.path, keepMs: options.config.tools.keepOutput, world, log });
  const timers = [forgetEvery(parts, store), watchHome(parts, home), expireEvery(parts, store, wake), sweeping];
  const tidying = keepAgentsTidy({ ...options, agents: known.agents, store });
  undo.move();
  return { home, store, opened, runners, timers, tidying, http };
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

async function anySession(agents: ReadonlyMap<string, Agent>): Promise<boolean> {
  for (const { sessions } of agents.values()) if ((await sessions.list()).length > 0) return true;
  return false;
}

interface TurnsParts {
  readonly store: LaneStore;
  readonly holder: string;
  agents(): ReadonlyMap<string, Agent>;
  wakeOut(): void;
}

function turnsOf(parts: Parts, { store, holder, agents, wakeOut }: TurnsParts): Turns {
  const { options, running } = parts;
  const { world, log, config } = options;
  const configured = (sessionKey: string) =>
    config.agents.list.find(({ id }) => id === agentOf(sessionKey)) ?? defaultAgent(config);
  return createTurns({
    store,
    holder,
    world,
    log,
    wakeOut,
    timeoutMs: (sessionKey) => configured(sessionKey).timeout,
    agent: (sessionKey) => agents().get(agentOf(sessionKey) ?? ""),
    running,
    textMax: (channel) => (channel === parts.web.name ? parts.web.textMax : undefined),
    changed: (itemId) => told(parts, store, itemId),
  });
}

/** Whoever waits for the item, and who watches its conversation. */
function told({ options, hub, waiting }: Parts, store: LaneStore, itemId: string): void {
  waiting.notify(itemId);
  const published = store.get(itemId).then((item) => {
    if (item !== undefined) hub.publish(item.queue, { type: "item", item: wireItem(item) });
  });
  published.catch((error: unknown) => options.log.warn("clients were not told of an item", { why: messageOf(error) }));
}

function startRunners(
  { options, web }: Parts,
  { store, holder, turns }: { readonly store: LaneStore; readonly holder: string; readonly turns: Turns },
): Running["runners"] {
  const { world, log, config } = options;
  const delivery = { channels: new Map([[web.name, web]]), store, holder, world, log };
  // A command that runs outlives the gateway; the next one attaches to it.
  const stopReason = () => new AgentError("detached", { session: "every session" });
  const common = { store, holder, leaseMs: config.lanes.lease, world, log, stopReason };
  const { work, failed } = turns;
  return {
    main: startRunner({ ...common, lane: "main", limit: config.lanes.main, work, failed }),
    out: startRunner({
      ...common,
      lane: "out",
      limit: SENDS_MAX,
      work: (item) => deliver(item, delivery),
      failed: (item, error) => undelivered(item, delivery, error),
    }),
  };
}

interface ListenParts {
  readonly store: LaneStore;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly token: string;
  wake(): void;
}

async function listen(parts: Parts, { store, agents, token, wake: ring }: ListenParts): Promise<HttpServer | null> {
  const { options, hub, waiting } = parts;
  const { world, log, dashboardRoot, config } = options;
  if (options.http === null) return null;
  const { host, port } = options.http ?? config.gateway;
  const { startHttp } = await import("./http/server.ts");
  return startHttp({
    host,
    port,
    token,
    world,
    log,
    hub,
    store,
    agents,
    wake: ring,
    changed: (itemId) => told(parts, store, itemId),
    routing: routing(config),
    statelessMax: config.lanes.main,
    dashboardRoot: config.channels.web.enabled ? dashboardRoot : null,
    cleanUp: (asked) => cleanUpAgents(agents.values(), { store, retention: config.sessions.retention }, asked),
    post: (request) => post(request, { store, waiting, accept: (arrival) => acceptWeb(parts, arrival) }),
  });
}

/** Message keys are kept for `lanes.dedupeFor`, then forgotten. */
function forgetEvery({ options }: Parts, store: LaneStore): Disposable {
  const { world, log, config } = options;
  return world.every(FORGET_EVERY_MS, () => {
    store
      .forget(world.nowMs() - config.lanes.dedupeFor)
      .catch((error: unknown) => log.warn("old items were not forgotten", { why: messageOf(error) }));
  });
}

/** Requests for a yes do not wait for ever. */
function expireEvery({ options: { world, log } }: Parts, store: LaneStore, wake: () => void): Disposable {
  return world.every(EXPIRE_EVERY_MS, () => {
    expireApprovals({ store, world }).then(
      (expired) => (expired > 0 ? wake() : undefined),
      (error: unknown) => log.warn("requests for approval were not looked through", { why: messageOf(error) }),
    );
  });
}

/** A gateway whose home is not its any more writes nothing new: it says so and stops. */
function watchHome({ options, state, lose }: Parts, home: Home): Disposable {
  return options.world.every(LOOK_AT_HOME_MS, () => {
    const { running } = state;
    if (running === null || home.isOurs()) return;
    state.running = null;
    const reason = new GatewayError("home_lost", { home: home.path });
    options.log.error(reason.message, { code: reason.code });
    const stopped = stop(running).catch((error: unknown) =>
      options.log.error("the stop failed", { why: messageOf(error) }),
    );
    void stopped.then(() => lose(reason));
  });
}

async function stopRunners({ main, out }: Running["runners"]): Promise<void> {
  await main.stop();
  await out.stop();
}

async function stop({ home, store, opened, runners, timers, tidying, http }: Running): Promise<void> {
  for (const timer of timers) timer[Symbol.dispose]();
  await http?.close();
  await stopRunners(runners);
  await tidying[Symbol.asyncDispose]();
  await opened.close();
  await store.close();
  home.release();
}
