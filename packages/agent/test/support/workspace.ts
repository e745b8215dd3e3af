/** A temporary workspace with an action folder beside it, and tools called the way `perform` calls them. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, realWorld, type World } from "@holdfast/base";
import type { Probe, Tool, ToolContext, ToolOutcome } from "../../src/types.ts";

export interface Workspace extends AsyncDisposable {
  readonly root: string;
  readonly path: string;
  readonly context: ToolContext;
  inside(...names: readonly string[]): string;
}

export async function temporaryWorkspace(
  more: { readonly world?: World; readonly signal?: AbortSignal } = {},
): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "holdfast-agent-")));
  const path = join(root, "workspace");
  const attemptDirectory = join(root, "actions", "key", "1");
  await mkdir(path);
  await mkdir(attemptDirectory, { recursive: true, mode: 0o700 });
  const { world = realWorld(), signal = new AbortController().signal } = more;
  return {
    root,
    path,
    context: { workspace: path, world, signal, key: "0123456789abcdef0123456789abcdef", attemptDirectory },
    inside: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** prepare, then run. */
export async function runTool(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
  const refused = tool.check(args);
  if (refused !== null) throw new Error(refused);
  return tool.run(args, (await tool.prepare?.(args, context)) ?? {}, context);
}

export async function prepareTool(tool: Tool, args: JsonObject, context: ToolContext): Promise<JsonObject> {
  return (await tool.prepare?.(args, context)) ?? {};
}

export async function probeTool(
  tool: Tool,
  args: JsonObject,
  evidence: JsonObject,
  context: ToolContext,
): Promise<Probe> {
  const probe = await tool.probe?.(args, evidence, context);
  if (probe === undefined) throw new Error("the tool has no probe");
  return probe;
}
