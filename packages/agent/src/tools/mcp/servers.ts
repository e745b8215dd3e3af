/**
 * The configured MCP servers and their tools.
 *
 * Invariant: a server that is away keeps nobody waiting for longer than its connection may take, and never takes a name from
 * a tool that is there. Its tools stay known after it is lost: an action of it that is open has to find its probe again.
 */
import { messageOf, type World } from "@holdfast/base";
import type { Tool } from "../../types.ts";
import { type Connection, connectionTo } from "./connection.ts";
import type { McpServer } from "./settings.ts";
import { mcpTool } from "./tool.ts";

const TRY_AGAIN_MS = 60_000;

export interface McpServers {
  /** Resolves once every server has answered or been given up for now. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface ToolSink {
  has(name: string): boolean;
  set(name: string, tool: Tool): unknown;
  delete(name: string): unknown;
}

export interface McpOptions {
  readonly world: World;
  /** Where tools are put in and taken out; names that are there from elsewhere are left alone. */
  readonly into: ToolSink;
  /** Told what a person may want to mend. Must not throw. */
  warn(what: string): void;
}

interface Known {
  readonly server: McpServer;
  readonly connection: Connection;
  /** Names of this server's tools in the map. */
  names: readonly string[];
  /** It has answered once. */
  reached: boolean;
}

export function startMcp(servers: readonly McpServer[], options: McpOptions): McpServers {
  const known = servers.map((server): Known => {
    const one: Known = {
      server,
      connection: connectionTo(server, () => void look(one, options)),
      names: [],
      reached: false,
    };
    return one;
  });
  const lookAt = (which: readonly Known[]): Promise<unknown> => Promise.all(which.map((one) => look(one, options)));
  const again = options.world.every(TRY_AGAIN_MS, () => void lookAt(known.filter(({ reached }) => !reached)));
  return {
    ready: lookAt(known).then(() => undefined),
    async close() {
      again[Symbol.dispose]();
      await Promise.all(known.map(({ connection }) => connection.close().catch(() => undefined)));
    },
  };
}

/** Never rejects. */
async function look(one: Known, { into, warn }: McpOptions): Promise<void> {
  const { server, connection } = one;
  try {
    const listed = await connection.tools();
    for (const name of one.names) into.delete(name);
    const tools = listed.map((each) => mcpTool(each, server, connection));
    const added: string[] = [];
    for (const tool of tools) {
      const { name } = tool.spec;
      if (into.has(name)) {
        warn(`the tool ${name} of the MCP server ${server.name} is left out: there is one of that name`);
        continue;
      }
      into.set(name, tool);
      added.push(name);
    }
    one.names = added;
    one.reached = true;
  } catch (error) {
    warn(messageOf(error));
  }
}
