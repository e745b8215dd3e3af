/** The configured agents, each made of its own sessions, workspace, model and tools. Nothing is shared between two agents. */
import { join, resolve } from "node:path";
import {
  type Agent,
  builtinTools,
  createRequestLog,
  type Model,
  type Observe,
  type Spent,
  type Tool,
} from "@holdfast/agent";
import { bootId, type World } from "@holdfast/base";
import { openSessions, type Sessions } from "@holdfast/sessions";
import { bootstrapOf } from "./bootstrap.ts";
import type { AgentConfig, Config } from "./config/schema.ts";
import { historyLimits } from "./history.ts";
import type { Home } from "./home.ts";
import type { Log } from "./log.ts";
import { startMcpServers } from "./mcp.ts";
import { permissionOf } from "./policy.ts";
import { withoutSecrets } from "./secrets.ts";
import { toolsFrom } from "./tool-modules.ts";
import type { Turns } from "./turns.ts";
import { makeWorkspace, workspaceOf } from "./workspace.ts";

export interface AgentsOptions {
  readonly home: Home;
  readonly config: Config;
  /** The model an agent asks. */
  model(agent: AgentConfig): Model;
  readonly holder: string;
  /** Keys and tokens that no command may inherit. */
  readonly secrets: readonly string[];
  readonly world: World;
  readonly log: Log;
  readonly observe: Observe;
  /** What keeps an agent from asking for money's sake, or null. */
  maySpend(agent: string, turn: Spent): string | null;
  /** The ports into the lane. */
  readonly turns: Pick<Turns, "began" | "arrived" | "join" | "charge" | "finish" | "tell">;
}

/** The agent that messages without another address go to. */
export function defaultAgent(config: Config): AgentConfig {
  const { list } = config.agents;
  return list.find((agent) => agent.default) ?? list[0]!;
}

export interface OpenAgents {
  readonly agents: ReadonlyMap<string, Agent>;
  close(): Promise<void>;
}

/** Opens them all; closes what is open when one fails. Throws `workspace_unusable`, `tool_module_unusable` and what the sessions throw. */
export async function openAgents(options: AgentsOptions): Promise<OpenAgents> {
  const { config, home, world, log } = options;
  const agents = new Map<string, Agent>();
  const toolsOf: Map<string, Tool>[] = [];
  await using undo = new AsyncDisposableStack();
  undo.defer(async () => {
    for (const agent of agents.values()) await agent.sessions.close();
  });
  for (const each of config.agents.list) {
    const tools = await toolsFor(options);
    toolsOf.push(tools);
    agents.set(each.id, await openAgent(each, tools, options));
  }
  const mcp = await startMcpServers(toolsOf, { config, cwd: home.path, world, log });
  undo.defer(() => mcp.close());
  const opened = undo.move();
  return { agents, close: () => opened.disposeAsync() };
}

/** Built in, and of the configured modules. */
async function toolsFor({ home, config, secrets }: AgentsOptions): Promise<Map<string, Tool>> {
  const builtin = builtinTools({ env: withoutSecrets(process.env, { config, known: secrets }) });
  const own = await toolsFrom(config.tools.modules, { home: home.path, taken: new Set(builtin.keys()) });
  return new Map([...builtin, ...own]);
}

async function openAgent(agent: AgentConfig, tools: ReadonlyMap<string, Tool>, options: AgentsOptions): Promise<Agent> {
  const { home, config, world, turns } = options;
  const workspace = workspaceOf(home.path, agent, agent === defaultAgent(config));
  await makeWorkspace(home.path, workspace);
  return {
    id: agent.id,
    sessions: await sessionsOf(agent, workspace, options),
    model: options.model(agent),
    tools,
    workspace,
    bootstrap: bootstrapOf(agent, config, world),
    world,
    home: { id: home.id, boot: bootId(), fsync: config.sessions.fsync, actions: join(home.path, "actions") },
    holder: options.holder,
    observe: options.observe,
    compaction: {
      strategy: config.sessions.compactionStrategy,
      keepRecentTokens: agent.compaction.keepRecentTokens,
      keepRecentMessages: agent.compaction.keepRecentMessages,
      instructions: agent.compaction.instructions,
      reserveTokens: agent.compaction.reserveTokens,
      auto: config.sessions.autoCompaction,
    },
    pruning: pruningOf(agent),
    history: ({ sessionKey, message }) => historyLimits(sessionKey, message.address.channel, config.sessions),
    requests: createRequestLog({
      world,
      onProblem: (why) => options.log.warn("what went into a request was not kept", { agent: agent.id, why }),
    }),
    timeoutMs: agent.timeout,
    maySpend: (turn) => options.maySpend(agent.id, turn),
    allowed: (message, tool, args) => permissionOf({ message, tool, args }, agent.tools),
    began: turns.began,
    arrived: turns.arrived,
    join: turns.join,
    charge: turns.charge,
    finish: turns.finish,
    tell: turns.tell,
  };
}

function pruningOf({ contextPruning: { ttl, ...settings } }: AgentConfig): NonNullable<Agent["pruning"]> {
  return { ...settings, ttlMs: ttl };
}

function sessionsOf(agent: AgentConfig, cwd: string, { home, config, world, log }: AgentsOptions): Promise<Sessions> {
  const { fsync, writeLock } = config.sessions;
  const directory = join(home.path, "agents", agent.id, "sessions");
  const onProblem = ({ code, what }: { readonly code: string; readonly what: string }) => log.warn(what, { code });
  const options = { directory, agentId: agent.id, fsync, cwd, writeLock, onProblem };
  return openSessions({ ...options, flatDirectories: flatDirectoriesOf(agent, home, config) }, world);
}

/** The older layout knows no agents: its files belong to the one that is spoken to without another address. */
function flatDirectoriesOf(agent: AgentConfig, home: Home, config: Config): readonly string[] {
  if (agent !== defaultAgent(config)) return [];
  return config.sessions.flatDirectories.map((path) => resolve(home.path, path));
}
