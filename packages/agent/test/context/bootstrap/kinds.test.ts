/** Which run is given which files. */
import { describe, expect, test } from "vitest";
import { isMemory, kindOf, type RunKind, wantedBy } from "../../../src/context/bootstrap/kinds.ts";

const ALL = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"];
const NOTES = ["MEMORY.md", "memory/2026-02-28.md", "memory/2026-03-01.md"];
const TODAY = "2026-03-01";

const filesOf = (kind: RunKind, scope: "main" | "always" | "never" = "main", days = 2): readonly string[] =>
  wantedBy({ kind, weight: "full" }, { scope, days }, TODAY).files;

test.each<[RunKind, readonly string[]]>([
  ["main", [...ALL, "BOOTSTRAP.md", ...NOTES]],
  ["direct", ALL],
  ["group", ALL],
  ["thread", ALL],
  ["cron", ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"]],
  ["subagent", ["AGENTS.md", "TOOLS.md"]],
])("%s", (kind, files) => {
  expect(filesOf(kind)).toEqual(files);
  expect(filesOf(kind, "always").slice(-3)).toEqual(NOTES);
  expect(filesOf(kind, "never").some(isMemory)).toBe(false);
});

test("as many days of notes as are set, whatever the month", () => {
  expect(filesOf("main", "main", 0).filter(isMemory)).toEqual(["MEMORY.md"]);
  expect(filesOf("main", "main", 3).at(-3)).toBe("memory/2026-02-27.md");
});

test("a light run has no file at all, a heartbeat only its own, of whatever kind", () => {
  for (const kind of ["main", "group", "cron", "subagent"] as const) {
    const memory = { scope: "always", days: 2 } as const;
    expect(wantedBy({ kind, weight: "lightweight" }, memory, TODAY)).toEqual({ files: [], skills: false });
    expect(wantedBy({ kind, weight: "heartbeat" }, memory, TODAY)).toEqual({ files: ["HEARTBEAT.md"], skills: false });
  }
});

describe("the kind of a key", () => {
  test.each<[string, RunKind]>([
    ["agent:main:main", "main"],
    ["agent:main:telegram:direct:5", "direct"],
    ["agent:main:telegram:default:direct:5", "direct"],
    ["agent:main:direct:5", "direct"],
    ["agent:main:telegram:group:-100", "group"],
    ["agent:main:discord:channel:9", "group"],
    ["agent:main:telegram:bot2:group:-100", "group"],
    ["agent:main:telegram:bot2:group:-100:thread:4", "thread"],
    ["agent:main:telegram:group:-100:thread:4", "thread"],
    ["agent:main:cron:daily", "cron"],
    ["agent:main:subagent:1", "subagent"],
    ["agent:main:something", "direct"],
  ])("%s is %s", (key, kind) => {
    expect(kindOf(key)).toBe(kind);
  });
});
