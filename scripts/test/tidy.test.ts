/** Each rule is shown to fail on a small fixture and to pass on its neighbour. */
import { describe, expect, test } from "vitest";
import { check } from "../tidy/check.ts";
import { parseSource } from "../tidy/source.ts";

const AT = "packages/agent/src/sample.ts";
const HEADER = "/** A sample. */\n";

/** Rules that fail for these files; mirrored tests exist unless told otherwise. */
function rules(files: Readonly<Record<string, string>>, exists: (path: string) => boolean = () => true): string[] {
  const sources = Object.entries(files).map(([path, text]) => parseSource(path, HEADER + text));
  return check(sources, exists).map(({ rule, severity }) => (severity === "warn" ? `${rule}?` : rule));
}
const of = (text: string, path = AT): string[] => rules({ [path]: text });
const lines = (count: number): string => "1;\n".repeat(count);

interface Case {
  readonly name: string;
  readonly text: string;
  readonly path?: string;
  readonly found: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "an arrow that exists", text: 'import { a } from "@holdfast/base";', found: [] },
  { name: "an arrow that does not exist", text: 'import { a } from "@holdfast/gateway";', found: ["arrow"] },
  { name: "an arrow of a type only", text: 'import type { A } from "@holdfast/cli";', found: ["arrow"] },
  { name: "an arrow of an export", text: 'export { a } from "@holdfast/gateway";', found: ["arrow"] },
  { name: "an arrow of a dynamic import", text: 'void import("@holdfast/gateway");', found: ["arrow"] },
  {
    name: "a door the table does not name",
    text: 'import { a } from "@holdfast/sessions/src/x.ts";',
    found: ["arrow"],
  },
  { name: "a package without arrows", text: "1;", path: "packages/new/src/a.ts", found: ["arrow"] },
  { name: "a path into another package", text: 'import { a } from "../../base/src/json.ts";', found: ["door"] },
  { name: "a path inside the package", text: 'import { a } from "../src/other.ts";', found: [] },
  { name: "a file of 250 lines", text: lines(249), found: [] },
  { name: "a file of 251 lines", text: lines(250), found: ["file-lines?"] },
  { name: "a file of 401 lines", text: lines(400), found: ["file-lines"] },
  { name: "a function of 40 lines", text: `function f() {\n${lines(38)}}`, found: [] },
  { name: "a function of 41 lines", text: `function f() {\n${lines(39)}}`, found: ["function-lines?"] },
  { name: "a method of 71 lines", text: `class A {\n  m() {\n${lines(69)}}\n}`, found: ["function-lines"] },
  { name: "an arrow of 71 lines", text: `const f = () => {\n${lines(69)}};`, found: ["function-lines"] },
  { name: "three levels", text: "function f(a) { for (;;) { if (a) { while (a) a(); } } }", found: [] },
  {
    name: "four levels",
    text: "function f(a) { for (;;) { if (a) { while (a) { try { a(); } finally {} } } } }",
    found: ["nesting"],
  },
  {
    name: "else if adds no level",
    text: "if (a) {} else if (b) {} else if (c) {} else if (d) { if (e) {} }",
    found: [],
  },
  {
    name: "a callback starts again",
    text: "for (;;) { if (a) { while (b) { c(() => { if (d) e(); }); } } }",
    found: [],
  },
  { name: "a class of 20", text: `class A { ${"x; ".repeat(20)} }`, found: [] },
  { name: "a class of 21", text: `class A { ${"x; ".repeat(21)} }`, found: ["class-members"] },
  { name: "a contract of 12", text: `interface LaneStore { ${contract(12)} name: string }`, found: [] },
  { name: "a contract of 13", text: `interface LaneStore { ${contract(13)} }`, found: ["contract-methods"] },
  {
    name: "a contract of function properties",
    text: `interface Channel { ${"a: () => void; ".repeat(13)} }`,
    found: ["contract-methods"],
  },
  { name: "an interface that is no contract", text: `interface Session { ${contract(13)} }`, found: [] },
  { name: "15 own imports", text: imports(15), found: [] },
  { name: "16 own imports", text: imports(16), found: ["imports"] },
  { name: "16 imports of the composition root", text: imports(16), path: "packages/gateway/src/gateway.ts", found: [] },
  { name: "let in a module", text: "let a = 1;", found: ["module-let"] },
  { name: "exported let", text: "export let a = 1;", found: ["module-let"] },
  { name: "let in a function", text: "function f() { let a = 1; return a; }", found: [] },
  { name: "any", text: "type A = any;", found: ["any"] },
  { name: "a cast to any", text: "const a = b as any;", found: ["any"] },
  { name: "any with a reason", text: "type A = any; // any: the library says so", found: [] },
  { name: "any with an empty reason", text: "type A = any; // any:", found: ["any"] },
  { name: "Date.now", text: "Date.now();", found: ["banned-call"] },
  { name: "Date.now of globalThis", text: "globalThis.Date.now();", found: ["banned-call"] },
  { name: "new Date()", text: "new Date();", found: ["banned-call"] },
  { name: "new Date(ms)", text: "new Date(5);", found: [] },
  { name: "Math.random", text: "Math.random();", found: ["banned-call"] },
  { name: "setTimeout", text: "setTimeout(f, 1);", found: ["banned-call"] },
  { name: "timers/promises", text: 'import { setTimeout as s } from "node:timers/promises";', found: ["banned-call"] },
  { name: "randomBytes", text: "randomBytes(5);", found: ["banned-call"] },
  { name: "randomBytes of a module", text: "chance().randomBytes(5);", found: ["banned-call"] },
  { name: "a clock in the world", text: "Date.now();", path: "packages/base/src/world.ts", found: [] },
];

function contract(methods: number): string {
  return Array.from({ length: methods }, (_, index) => `m${index}(): void; `).join("");
}
function imports(count: number): string {
  return Array.from({ length: count }, (_, index) => `import { a${index} } from "./f${index}.ts";`).join("\n");
}

describe("rules", () => {
  test.each(CASES)("$name: $found", ({ text, path, found }) => {
    expect(of(text, path)).toEqual(found);
  });

  test("a file without a header", () => {
    const source = parseSource(AT, "#!/usr/bin/env node\nexport {};\n");
    expect(check([source], () => true).map((each) => `${each.file}:${each.line} ${each.rule}`)).toEqual([
      `${AT}:1 header`,
    ]);
  });

  test("a cycle of values, once; a cycle of types is none", () => {
    const [a, b] = ["packages/agent/src/a.ts", "packages/agent/src/b.ts"];
    expect(rules({ [a]: 'import { b } from "./b.ts";', [b]: 'import { a } from "./a.ts";' })).toEqual(["cycle"]);
    expect(rules({ [a]: 'import { b } from "./b.ts";', [b]: 'import { type A } from "./a.ts";' })).toEqual([]);
  });

  test("a source without a mirrored test", () => {
    expect(rules({ [AT]: "1;" }, () => false)).toEqual(["mirrored-test?"]);
    expect(rules({ "packages/agent/src/index.ts": "1;" }, () => false)).toEqual([]);
  });

  test("lines are those of the file", () => {
    const [only] = check([parseSource(AT, `${HEADER}1;\n\nlet a = 1;\n`)], () => true);
    expect(only).toMatchObject({ line: 4, rule: "module-let" });
  });
});
