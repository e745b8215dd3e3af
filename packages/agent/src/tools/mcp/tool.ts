/**
 * A tool of an MCP server as one of ours, with what repeating it means and how to find out what became of it.
 *
 * Invariant: what the server's hints leave open counts as strict: a call that may have reached the server is repeated only
 * where that changes nothing.
 */
import type { Tool as Listed } from "@modelcontextprotocol/client";
import { isObject, type JsonObject, messageOf } from "@holdfast/base";
import type { Effect, Probe, Tool, ToolContext, ToolOutcome } from "../../types.ts";
import { type Connection, textOf } from "./connection.ts";
import type { McpProbe, McpServer } from "./settings.ts";

const NAME_MAX = 64;

/** `<server>_<tool>`, with what a model's provider takes in names. */
export function nameOf(server: string, tool: string): string {
  return `${server}_${tool}`.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, NAME_MAX);
}

/** Without hints, the strictest; `effects` of the configuration before the hints, since a server says what it likes of itself. */
export function effectOfListed({ name, annotations }: Pick<Listed, "name" | "annotations">, server: McpServer): Effect {
  const configured = server.effects[name];
  if (configured !== undefined) return configured;
  if (annotations?.readOnlyHint === true) return "none";
  if (annotations?.idempotentHint === true) return "idempotent";
  return server.probes[name] === undefined ? "opaque" : "checkable";
}

export function mcpTool(listed: Listed, server: McpServer, connection: Connection): Tool {
  const { name, title, description, inputSchema } = listed;
  const probe = server.probes[name];
  const tool: Tool = {
    spec: {
      name: nameOf(server.name, name),
      description: description ?? title ?? name,
      parameters: inputSchema as JsonObject,
    },
    effect: effectOfListed(listed, server),
    // The server checks them, and says what is wrong in a result that the model can act on.
    check: () => null,
    run: (args, _evidence, context) => run(name, args, { context, server, connection }),
  };
  if (probe === undefined) return tool;
  return { ...tool, probe: (args, _evidence, context) => ask(probe, args, { context, connection }) };
}

interface Way {
  readonly context: ToolContext;
  readonly connection: Connection;
}

async function run(
  tool: string,
  args: JsonObject,
  { context, server, connection }: Way & { readonly server: McpServer },
): Promise<ToolOutcome> {
  try {
    const result = await connection.call({ tool, args, key: context.key, signal: context.signal });
    const details = isObject(result.structuredContent) ? { details: result.structuredContent as JsonObject } : {};
    return { ok: result.isError !== true, text: textOf(result), ...details };
  } catch (error) {
    if (context.signal.aborted) throw error;
    const unsure = `Whether ${server.name} did it is not known; look there before you ask again.`;
    return { ok: false, text: `${messageOf(error)}. ${unsure}` };
  }
}

async function ask(probe: McpProbe, args: JsonObject, { context, connection }: Way): Promise<Probe> {
  const asked = Object.fromEntries(
    Object.entries(probe.arguments).map(([name, template]) => [name, filled(template, args)]),
  );
  const { signal } = context;
  const result = await connection.call({ tool: probe.tool, args: asked, key: context.key, signal });
  const text = textOf(result);
  const evidence: JsonObject = { tool: probe.tool, arguments: asked, answer: text.slice(0, 2_000) };
  const says = `${probe.tool} answers: ${text.slice(0, 500)}`;
  if (result.isError === true) return { kind: "unknown", evidence, says };
  if (new RegExp(probe.happened, "u").test(text)) return { kind: "happened", evidence, outcome: { ok: true, text } };
  if (new RegExp(probe.absent, "u").test(text)) return { kind: "absent", evidence, says };
  return { kind: "unknown", evidence, says };
}

/** `{name}` alone is the argument as it is; within other text, as text. */
function filled(template: string, args: JsonObject): JsonObject[string] {
  const whole = /^\{(\w+)\}$/u.exec(template)?.[1];
  if (whole !== undefined) return args[whole] ?? null;
  return template.replace(/\{(\w+)\}/gu, (_, name: string) => {
    const value = args[name];
    return typeof value === "string" ? value : JSON.stringify(value ?? null);
  });
}
