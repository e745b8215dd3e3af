/** Which tool may run for whom. */
import { expect, test } from "vitest";
import { permissionOf } from "../src/policy.ts";
import { configOf } from "./support/gateway.ts";

const defaults = configOf().agents.defaults.tools;
const by = (owner: boolean) => ({ from: { id: "x", name: null, owner } });
const tool = (name: string) => ({ spec: { name, description: "", parameters: {} } });

test.each([
  [true, "read", {}, null],
  [true, "write", {}, null],
  [true, "exec", { approve: [] }, null],
  [true, "exec", { approve: [], deny: ["exec"] }, "agents.defaults.tools.deny"],
  [true, "write", { allow: ["read"] }, "agents.defaults.tools.allow"],
  [true, "memory_get", { allow: ["memory_*"] }, null],
  [true, "memory", { allow: ["memory_*"] }, "agents.defaults.tools.allow"],
  [false, "read", {}, null],
  [false, "write", {}, "agents.defaults.tools.others.allow"],
  [false, "read", { deny: ["*"] }, "agents.defaults.tools.deny"],
])("owner %s, %s, %j → %s", (owner, name, patch, names) => {
  const refusal = permissionOf({ message: by(owner), tool: tool(name), args: {} }, { ...defaults, ...patch });
  if (names === null) expect(refusal).toBeNull();
  else expect(refusal).toContain(names);
});

test.each([
  [["exec"], "exec", { command: "ls" }, true],
  [["exec:git push*"], "exec", { command: "git push origin" }, true],
  [["exec:git push*"], "exec", { command: "git pull" }, false],
  [["exec:*rm -rf*"], "exec", { command: "cd /; rm -rf *" }, true],
  [["write:notes/*"], "write", { path: "notes/todo.md", content: "x" }, true],
  [["write:notes/*"], "write", { path: "other/notes/x", content: "x" }, false],
  [["exec:a.c"], "exec", { command: "abc" }, false],
  [["*"], "anything", {}, true],
  [["mcp_*:*delete*"], "mcp_files", { what: "delete it" }, true],
])("approve %j: %s %j needs a yes: %s", (approve, name, args, needed) => {
  const permission = permissionOf({ message: by(true), tool: tool(name), args }, { ...defaults, approve });
  expect(permission).toEqual(needed ? { expiresInMs: 86_400_000 } : null);
});
