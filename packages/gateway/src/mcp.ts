/**
 * The MCP servers of the configuration, whose tools all agents have.
 * Invariant: the gateway starts whatever becomes of them: one that is away is waited for as long as a connection may take, once.
 */
import { type McpServer, type McpServers, startMcp, type Tool, type ToolSink } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import type { Config } from "./config/schema.ts";
import type { Log } from "./log.ts";

type Configured = Config["tools"]["mcp"][string];

interface Options {
  readonly config: Config;
  /** Where their programs run. */
  readonly cwd: string;
  readonly world: World;
  readonly log: Log;
}

/** `toolsOf`: each agent's own map; tools come and go in it. */
export async function startMcpServers(
  toolsOf: readonly Map<string, Tool>[],
  { config, cwd, world, log }: Options,
): Promise<McpServers> {
  const servers = Object.entries(config.tools.mcp).map(([name, one]) => serverOf(name, one, cwd));
  const started = startMcp(servers, { world, into: all(toolsOf), warn: (what) => log.warn(what) });
  await started.ready;
  return started;
}

function all(maps: readonly Map<string, Tool>[]): ToolSink {
  return {
    has: (name) => maps.some((map) => map.has(name)),
    set(name, tool) {
      for (const map of maps) map.set(name, tool);
    },
    delete(name) {
      for (const map of maps) map.delete(name);
    },
  };
}

function serverOf(name: string, one: Configured, cwd: string): McpServer {
  const { command, args, env, url, headers, timeout, effects, probes } = one;
  // The schema lets exactly one of the two through.
  const address: McpServer["address"] =
    command === undefined ? { kind: "url", url: url ?? "", headers } : { kind: "program", command, args, env, cwd };
  return { name, address, timeoutMs: timeout, effects, probes };
}
