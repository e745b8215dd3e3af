/** Which tool may run for whom. */
import { expect, test } from "vitest";
import { refusalOf } from "../src/policy.ts";
import { configOf } from "./support/gateway.ts";

const defaults = configOf().agents.defaults.tools;
const by = (owner: boolean) => ({ from: { id: "x", name: null, owner } });
const tool = (name: string) => ({ spec: { name, description: "", parameters: {} } });

test.each([
  [true, "read", {}, null],
  [true, "write", {}, null],
  [true, "exec", {}, "agents.defaults.tools.approve"],
  [true, "exec", { approve: [] }, null],
  [true, "exec", { approve: [], deny: ["exec"] }, "agents.defaults.tools.deny"],
  [true, "write", { allow: ["read"] }, "agents.defaults.tools.allow"],
  [true, "memory_get", { allow: ["memory_*"] }, null],
  [true, "memory", { allow: ["memory_*"] }, "agents.defaults.tools.allow"],
  [false, "read", {}, null],
  [false, "write", {}, "agents.defaults.tools.others.allow"],
  [false, "read", { deny: ["*"] }, "agents.defaults.tools.deny"],
])("owner %s, %s, %j → %s", (owner, name, patch, names) => {
  const refusal = refusalOf(by(owner), tool(name), { ...defaults, ...patch });
  if (names === null) expect(refusal).toBeNull();
  else expect(refusal).toContain(names);
});

test("the refusal of what needs a yes says how to allow it", () => {
  expect(refusalOf(by(true), tool("exec"), defaults)).toContain('removes "exec" from that list');
});
