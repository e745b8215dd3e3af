/**
 * Tools of one's own: modules named in `tools.modules`, each with a tool or a list of them as default export.
 * Invariant: a module that cannot be used is named when the gateway starts; a tool that is not whole, or has a name that is
 * taken, is never offered to a model.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Tool } from "@holdfast/agent";
import { messageOf } from "@holdfast/base";
import { z } from "zod";
import { GatewayError } from "./errors.ts";

const run = z.custom<(...args: never[]) => unknown>((value) => typeof value === "function", "not a function");
const shape = z.looseObject({
  spec: z.object({
    name: z.string().regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/u),
    description: z.string().min(1),
    parameters: z.looseObject({ type: z.literal("object") }),
  }),
  effect: z.enum(["none", "idempotent", "checkable", "opaque"]),
  check: run,
  run,
  identity: run.optional(),
  effectOf: run.optional(),
  prepare: run.optional(),
  probe: run.optional(),
});

/** Throws `tool_module_unusable`. Paths are relative to the home. */
export async function toolsFrom(
  modules: readonly string[],
  { home, taken }: { readonly home: string; readonly taken: ReadonlySet<string> },
): Promise<ReadonlyMap<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const module of modules) {
    for (const tool of await imported(resolve(home, module))) {
      const { name } = tool.spec;
      if (taken.has(name) || tools.has(name)) throw unusable(module, `there is a tool ${name} already`);
      tools.set(name, tool);
    }
  }
  return tools;
}

async function imported(path: string): Promise<readonly Tool[]> {
  let found: unknown;
  try {
    found = ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
  return (Array.isArray(found) ? found : [found]).map((tool: unknown) => checked(path, tool));
}

function checked(path: string, tool: unknown): Tool {
  const { success, error } = shape.safeParse(tool);
  if (!success) {
    const issues = error.issues.map((issue) => `${issue.path.join(".") || "default export"}: ${issue.message}`);
    throw unusable(path, issues.join("; "));
  }
  const made = tool as Tool;
  if (made.effect === "checkable" && made.probe === undefined)
    throw unusable(path, `${made.spec.name} is checkable and has no probe`);
  return made;
}

function unusable(path: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("tool_module_unusable", { path, why }, cause);
}
