/**
 * From the text of `holdfast.json` to a configuration, or to every problem in it at once.
 * Heavy (zod, json5): reached through a dynamic import only.
 */
import { isObject, messageOf } from "@holdfast/base";
import JSON5 from "json5";
import { z } from "zod";
import { type Environment, expand } from "./environment.ts";
import { lineOf, linesByPath } from "./lines.ts";
import { nearest } from "./nearest.ts";
import { type Config, configSchema } from "./schema.ts";
import { workspaceFlaw, workspaceOf } from "../workspace.ts";

/** `path` as in `agents.defaults.timeout`; "" for the file itself. `line` is 1-based, null when it is not in the text. */
export interface ConfigProblem {
  readonly path: string;
  readonly line: number | null;
  readonly message: string;
}
export type Checked =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

type Path = readonly PropertyKey[];

export function dotted(path: Path): string {
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index ? "." : ""}${String(part)}`))
    .join("");
}

function schemaAt(path: Path): z.core.JSONSchema.BaseSchema | undefined {
  let node: z.core.JSONSchema.BaseSchema | undefined = jsonSchema();
  for (const part of path) {
    const next: unknown =
      typeof part === "number" ? node?.items : (node?.properties?.[String(part)] ?? node?.additionalProperties);
    node = isObject(next) ? next : undefined;
  }
  return node;
}

/** The schema as JSON Schema of what people write. */
export function jsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(configSchema, { io: "input" });
}

function elsewhere(name: string, node: z.core.JSONSchema.BaseSchema, path: Path): string | undefined {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (key === name) return dotted([...path, key]);
    const found = isObject(child) ? elsewhere(name, child, [...path, key]) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknownKey(path: Path, key: string): string {
  const known = Object.keys(schemaAt(path)?.properties ?? {});
  const close = nearest(key, known);
  if (close !== undefined) return `unknown key; did you mean \`${close}\`?`;
  const moved = elsewhere(key, jsonSchema(), []);
  if (moved !== undefined) return `unknown key here; did you mean \`${moved}\`?`;
  return known.length > 0 ? `unknown key; known here: ${known.join(", ")}` : "unknown key";
}

function problemsOf(error: z.ZodError, lines: ReadonlyMap<string, number>): ConfigProblem[] {
  return error.issues.flatMap((issue) => {
    const at = (path: Path, message: string) => ({ path: dotted(path), line: lineOf(lines, path), message });
    if (issue.code !== "unrecognized_keys") return [at(issue.path, issue.message)];
    return issue.keys.map((key) => at([...issue.path, key], unknownKey(issue.path, key)));
  });
}

/** Deep for objects; anything else in `over` wins whole. */
function merge(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = key in base ? merge(base[key], value) : value;
  return merged;
}

/** An agent of the list is the defaults with what its entry says on top; valid input stays valid. */
function withDefaults(input: unknown): unknown {
  const agents = isObject(input) ? input.agents : undefined;
  if (!isObject(input) || !isObject(agents)) return input;
  const list = Array.isArray(agents.list) ? agents.list : [{ id: "main", default: true }];
  return { ...input, agents: { ...agents, list: list.map((entry) => merge(agents.defaults ?? {}, entry)) } };
}

function agentProblems(config: Config, lines: ReadonlyMap<string, number>): ConfigProblem[] {
  const path = ["agents", "list"];
  const ids = config.agents.list.map((agent) => agent.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  const defaults = config.agents.list.filter((agent) => agent.default).length;
  const message =
    twice !== undefined
      ? `two agents are called \`${twice}\``
      : defaults > 1
        ? "more than one agent is the default"
        : undefined;
  return message === undefined ? [] : [{ path: dotted(path), line: lineOf(lines, path), message }];
}

/** What the schema knows and this version cannot do: refused, since something else than the person wrote would quietly happen. */
function unavailable({ sessions, lanes }: Config, lines: ReadonlyMap<string, number>): ConfigProblem[] {
  const found = [
    { path: ["sessions", "store", "driver"], wrong: sessions.store.driver !== "file", only: "`file`" },
    { path: ["lanes", "store", "driver"], wrong: lanes.store.driver !== "sqlite", only: "`sqlite`" },
  ];
  return found.flatMap(({ path, wrong, only }) =>
    wrong ? [{ path: dotted(path), line: lineOf(lines, path), message: `this version has ${only} only` }] : [],
  );
}

/** Workspaces that would give an agent the home's own files. */
function workspaceProblems({ agents }: Config, home: string, lines: ReadonlyMap<string, number>): ConfigProblem[] {
  return agents.list.flatMap((agent, index) => {
    const flaw = agent.workspace === null ? null : workspaceFlaw(home, workspaceOf(home, agent, agent.default));
    const own = ["agents", "list", index, "workspace"];
    const path = lines.has(own.join("\0")) ? own : ["agents", "defaults", "workspace"];
    const message = `this folder cannot be a workspace: ${flaw}`;
    return flaw === null ? [] : [{ path: dotted(path), line: lineOf(lines, path), message }];
  });
}

/** Checks a text. `home`: whose configuration it is; null where that does not matter. Never throws for what is wrong in it; values of the text do not appear in messages. */
export function checkText(text: string, env: Environment, home: string | null = null): Checked {
  let parsed: unknown;
  try {
    parsed = JSON5.parse(text);
  } catch (error) {
    const line = isObject(error) && typeof error.lineNumber === "number" ? error.lineNumber : null;
    return { ok: false, problems: [{ path: "", line, message: messageOf(error).replace(/^JSON5: /, "") }] };
  }
  const lines = linesByPath(text);
  const { value, missing, found } = expand(parsed, env);
  const unset = missing.map(({ path, name }) => ({
    path: dotted(path),
    line: lineOf(lines, path),
    message: `the environment variable ${name} is not set; set it, or write the value another way`,
  }));
  const first = configSchema.safeParse(value);
  if (!first.success) {
    const others = problemsOf(first.error, lines).filter((problem) => !unset.some(({ path }) => path === problem.path));
    return { ok: false, problems: [...unset, ...others] };
  }
  if (unset.length > 0) return { ok: false, problems: unset };
  const config = configSchema.parse(withDefaults(value));
  const walls = home === null ? [] : workspaceProblems(config, home, lines);
  const problems = [...agentProblems(config, lines), ...unavailable(config, lines), ...walls];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, config: found.length > 0 ? { ...config, expanded: found } : config };
}
