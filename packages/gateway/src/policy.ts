/**
 * Which tools may run for whom. Pure; asked before every call.
 * Invariant: `deny` wins over everything, somebody who is not the owner has `others` only, and what needs a yes does not
 * run without one.
 */
import type { Message, Tool } from "@holdfast/agent";
import type { AgentConfig } from "./config/schema.ts";

type ToolPolicy = AgentConfig["tools"];

/** `*` and a trailing `*` match any rest. */
function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}

/** null: it may run; else the text the model gets instead of a result. */
export function refusalOf(message: Pick<Message, "from">, tool: Pick<Tool, "spec">, policy: ToolPolicy): string | null {
  const { name } = tool.spec;
  const where = "in holdfast.json";
  if (matches(name, policy.deny)) return `Not run: ${name} is listed in agents.defaults.tools.deny ${where}.`;
  const allow = message.from.owner ? policy.allow : policy.others.allow;
  const list = message.from.owner ? "agents.defaults.tools.allow" : "agents.defaults.tools.others.allow";
  if (!matches(name, allow)) return `Not run: ${name} is not in ${list} ${where}.`;
  if (!matches(name, policy.approve)) return null;
  return [
    `Not run: ${name} needs the owner's approval, because it is listed in agents.defaults.tools.approve ${where}.`,
    `To let it run without asking, the owner removes "${name}" from that list and restarts the gateway.`,
  ].join(" ");
}
