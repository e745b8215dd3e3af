/**
 * The way to one MCP server: made when it is needed, made again after it was lost.
 *
 * Invariant: a call that was sent is never sent again here. Only what failed before it was sent is tried on a new connection.
 */
import type { CallToolResult, Client, Tool as Listed, Transport } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "@holdfast/base";
import type { McpAddress, McpServer } from "./settings.ts";

const CONNECT_MS = 10_000;

/** The key under which a server finds the idempotency key of a call, in its `_meta`. */
export const KEY_META = "holdfast/idempotencyKey";

export interface McpCall {
  readonly tool: string;
  readonly args: JsonObject;
  /** Sent along in `_meta`; null: none. */
  readonly key: string | null;
  readonly signal: AbortSignal;
}

export interface Connection {
  /** Connects when it is not connected, and asks for the tools. */
  tools(): Promise<readonly Listed[]>;
  call(call: McpCall): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** Connects to nothing yet. `changed`: the server says that its tools are others now. Must not throw. */
export function connectionTo(server: McpServer, changed: () => void): Connection {
  const state: { client: Promise<Client> | null; closed: boolean } = { client: null, closed: false };
  const forget = (): void => {
    state.client = null;
  };
  const connected = (): Promise<Client> => {
    if (state.closed) throw new Error(`the connection to ${server.name} is closed`);
    state.client ??= open(server, { changed, lost: forget }).catch((error: unknown) => {
      forget();
      throw error;
    });
    return state.client;
  };
  return {
    async tools() {
      const client = await connected();
      return (await client.listTools(undefined, { timeout: CONNECT_MS })).tools;
    },
    async call({ tool, args, key, signal }) {
      const client = await connected();
      const meta = key === null ? {} : { _meta: { [KEY_META]: key } };
      return client.callTool({ name: tool, arguments: args, ...meta }, { signal, timeout: server.timeoutMs });
    },
    async close() {
      state.closed = true;
      const client = await state.client?.catch(() => null);
      await client?.close();
    },
  };
}

interface Hooks {
  changed(): void;
  lost(): void;
}

/** The library is loaded here: most homes have no MCP server. */
async function open({ name, address }: McpServer, { changed, lost }: Hooks): Promise<Client> {
  const { Client } = await import("@modelcontextprotocol/client");
  const client = new Client(
    { name: "holdfast", version: "1" },
    { listChanged: { tools: { autoRefresh: false, onChanged: changed } } },
  );
  client.onclose = lost;
  try {
    await client.connect(await transportTo(address), { timeout: CONNECT_MS });
    return client;
  } catch (error) {
    await client.close().catch(() => undefined);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the MCP server ${name} cannot be reached: ${why}`, { cause: error });
  }
}

async function transportTo(address: McpAddress): Promise<Transport> {
  if (address.kind === "url") {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    return new StreamableHTTPClientTransport(new URL(address.url), {
      requestInit: { headers: { ...address.headers } },
    });
  }
  const { getDefaultEnvironment, StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const { command, args, cwd } = address;
  const env = { ...getDefaultEnvironment(), ...address.env };
  return new StdioClientTransport({ command, args: [...args], env, cwd, stderr: "ignore" });
}

/** The text of a result, and what it holds for programs. */
export function textOf({ content, structuredContent }: CallToolResult): string {
  const said = content.map((block) => {
    if (block.type === "text") return block.text;
    if (block.type === "resource" && "text" in block.resource) return block.resource.text;
    if (block.type === "resource_link") return `${block.name}: ${block.uri}`;
    return `(${block.type}, not shown)`;
  });
  return said.length === 0 && isObject(structuredContent) ? JSON.stringify(structuredContent) : said.join("\n");
}
