/** The tools that every agent has. Each states what repeating it means, and how to find out whether it was done. */
import type { Tool } from "../types.ts";
import { appendTool } from "./append.ts";
import { editTool } from "./edit.ts";
import { execTool } from "./exec/exec.ts";
import { processTool } from "./exec/process.ts";
import { httpRequestTool } from "./http-request.ts";
import { readTool } from "./read.ts";
import { deleteTool, moveTool } from "./remove.ts";
import { writeTool } from "./write.ts";

export interface BuiltinOptions {
  /** What commands inherit, after keys, tokens and Holdfast's own variables are taken out; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** `read`, `write`, `edit`, `append`, `move`, `delete`, `exec`, `process`, `http_request`, by name. They find their workspace in each call's context. */
export function builtinTools({ env = process.env }: BuiltinOptions = {}): ReadonlyMap<string, Tool> {
  const tools = [
    readTool(),
    writeTool(),
    editTool(),
    appendTool(),
    moveTool(),
    deleteTool(),
    execTool(env),
    processTool(),
    httpRequestTool(),
  ];
  return new Map(tools.map((tool) => [tool.spec.name, tool]));
}
