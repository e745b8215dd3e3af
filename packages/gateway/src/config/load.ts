/**
 * Reads `$HOLDFAST_HOME/holdfast.json`. A missing file means the defaults; anything else that is not a readable, valid
 * file is an error that names every problem. zod and json5 are imported only when this runs.
 */
import { join } from "node:path";
import { errnoOf, messageOf, readText } from "@holdfast/base";
import { GatewayError } from "../errors.ts";
import type { Checked, ConfigProblem } from "./check.ts";
import type { Environment } from "./environment.ts";
import type { Config } from "./schema.ts";

export const CONFIG_FILE = "holdfast.json";

const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: "it is a directory; move it away or put a file in its place",
  EACCES: "permission denied; make it readable for the user who runs Holdfast",
  ENOTDIR: "a part of its path is a file",
};

async function textOf(file: string): Promise<string> {
  try {
    return await readText(file);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return "{}";
    throw new GatewayError("config_unreadable", { file, why: UNREADABLE[errno ?? ""] ?? messageOf(error) }, error);
  }
}

/** One line of text for a problem. */
export function describeProblem(problem: ConfigProblem): string {
  const line = problem.line === null ? "" : `line ${problem.line}: `;
  return `${line}${problem.path === "" ? "" : `${problem.path}: `}${problem.message}`;
}

/** The configuration or its problems. Throws `config_unreadable`. */
export async function checkConfig(home: string, env: Environment = process.env): Promise<Checked> {
  const text = await textOf(join(home, CONFIG_FILE));
  const { checkText } = await import("./check.ts");
  return checkText(text, env, home);
}

/** The configuration, every default filled in. Throws `config_unreadable`, `config_invalid` (all problems in its text). */
export async function loadConfig(home: string, env: Environment = process.env): Promise<Config> {
  const checked = await checkConfig(home, env);
  if (checked.ok) return checked.config;
  const problems = checked.problems.map((problem) => `  - ${describeProblem(problem)}`).join("\n");
  const file = join(home, CONFIG_FILE);
  throw new GatewayError("config_invalid", { file, count: checked.problems.length, problems });
}
