/**
 * Which tools may run for whom. Pure; asked before every call.
 * Invariant: `deny` wins over everything, somebody who is not the owner has `others` only, and what needs a yes does not
 * run without one.
 */
import type { Message, Tool } from "@holdfast/agent";
import type { JsonObject } from "@holdfast/base";
import type { AgentConfig } from "./config/schema.ts";

type ToolPolicy = AgentConfig["tools"];

/** `*` and a trailing `*` match any rest. */
function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}

/** null: it may run. A text: what the model gets instead of a result. Else a person has to say yes within the time. */
export function permissionOf(
  {
    message,
    tool,
    args,
  }: { readonly message: Pick<Message, "from">; readonly tool: Pick<Tool, "spec">; readonly args: JsonObject },
  policy: ToolPolicy,
): string | null | { readonly expiresInMs: number } {
  const { name } = tool.spec;
  const where = "in holdfast.json";
  if (matches(name, policy.deny)) return `Not run: ${name} is listed in agents.defaults.tools.deny ${where}.`;
  const allow = message.from.owner ? policy.allow : policy.others.allow;
  const list = message.from.owner ? "agents.defaults.tools.allow" : "agents.defaults.tools.others.allow";
  if (!matches(name, allow)) return `Not run: ${name} is not in ${list} ${where}.`;
  return needsApproval(name, args, policy.approve) ? { expiresInMs: policy.approvalExpires } : null;
}

/** `name` and `name*` mean every call; `name:pattern` those whose command, path or url (else: arguments as JSON) fits. */
function needsApproval(name: string, args: JsonObject, patterns: readonly string[]): boolean {
  const subject = [args.command, args.path, args.url].find((value) => typeof value === "string");
  const text = typeof subject === "string" ? subject : JSON.stringify(args);
  return patterns.some((pattern) => {
    const colon = pattern.indexOf(":");
    if (colon < 0) return matches(name, [pattern]);
    return matches(name, [pattern.slice(0, colon)]) && fits(text, pattern.slice(colon + 1));
  });
}

/** `*` stands for any text, also none. */
function fits(text: string, pattern: string): boolean {
  const pieces = pattern.split("*").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*")}$`, "u").test(text.trim());
}
