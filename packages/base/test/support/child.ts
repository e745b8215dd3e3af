/**
 * Runs one of `support/children/*.ts` as a process of its own, so that tests can kill it.
 * Lines it prints are facts from outside: they are read here as they come.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The next line, or undefined when it has ended. */
  line(): Promise<string | undefined>;
  /** Waits for the end: the exit code, or the signal's name. */
  ended(): Promise<number | string | null>;
  stderr(): string;
}

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** More arguments for node itself. */
  readonly node?: readonly string[];
}

export function startChild(name: string, args: readonly string[], options: ChildOptions = {}): Child {
  const file = fileURLToPath(new URL(`children/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=holdfast-src", ...(options.node ?? []), file, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const errors: string[] = [];
  child.stderr.on("data", (data: Buffer) => errors.push(data.toString()));
  return {
    process: child,
    line: async () => (await lines.next()).value,
    async ended() {
      const [code, signal]: unknown[] = await ended;
      return typeof code === "number" || typeof signal === "string" ? ((code ?? signal) as number | string) : null;
    },
    stderr: () => errors.join(""),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
