/** Runs the real command line as a child process, the way a shell would. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Without what the surrounding shell may have set: a home, a locale, a fault. */
export function cleanEnv(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST_|LC_|LANG|NO_COLOR|FORCE_COLOR|NODE_)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    XDG_CACHE_HOME: join(tmpdir(), "holdfast-test-cache"),
    HOLDFAST_LOG: "warn",
    ...extra,
  };
}

export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, ["--conditions=holdfast-src", MAIN, ...args], { env: cleanEnv(env) });
}

export async function runCli(args: readonly string[], { stdin = "", env = {} }: RunOptions = {}): Promise<Ran> {
  return finished(startCli(args, env), stdin);
}

export async function finished(child: ChildProcessWithoutNullStreams, stdin = ""): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    said.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said.stderr += text;
  });
  child.stdin.on("error", () => {}); // it may have ended without reading
  child.stdin.end(stdin);
  const [code, signal] = await once(child, "close");
  return { code, signal, ...said };
}

/** The first line a child prints, once it is whole. */
export async function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}

/** A directory of its own, removed when disposed. */
export async function temporaryDirectory(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-cli-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
