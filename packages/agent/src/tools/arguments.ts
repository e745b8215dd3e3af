/**
 * A tool's arguments: one zod schema gives the JSON Schema for the model and the check before anything is done.
 * Invariant: a tool never sees arguments that its schema does not accept.
 */
import type { JsonObject } from "@holdfast/base";
import { z } from "zod";
import type { ToolSpec } from "../types.ts";

export interface Arguments<Args> {
  readonly spec: ToolSpec;
  /** What is wrong with the arguments, for the model; null when they are fine. */
  check(args: JsonObject): string | null;
  /** Throws when `check` would have refused. */
  parse(args: JsonObject): Args;
}

export function argumentsOf<Schema extends z.ZodObject>(
  name: string,
  description: string,
  schema: Schema,
): Arguments<z.infer<Schema>> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return {
    spec: { name, description, parameters: parameters as unknown as JsonObject },
    check(args) {
      const parsed = schema.safeParse(args);
      if (parsed.success) return null;
      return parsed.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`).join("; ");
    },
    parse: (args) => schema.parse(args),
  };
}
