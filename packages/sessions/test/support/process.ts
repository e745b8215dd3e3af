/** A support program that runs meanwhile: it is told to stop, go on or die, and what it prints can be awaited. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export interface Running extends AsyncDisposable {
  readonly lines: readonly string[];
  readonly pid: number;
  readonly stderr: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the first line that fits; fails when the process ends without it. */
  line(fits: (line: string) => boolean): Promise<string>;
  /** Resolves once the kernel says that it is stopped. */
  stopped(): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export function run(program: string, args: readonly string[]): Running {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=holdfast-src", path, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let stderr = "";
  let isOver = false;
  let rest = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  child.stdout.on("data", (data) => {
    const parts = `${rest}${data}`.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const look of waiting) look();
  });
  const ended = endOf(child).then((end) => {
    isOver = true;
    for (const look of waiting) look();
    return end;
  });
  return {
    lines,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    ended,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(fits);
          if (found === undefined && !isOver) return void waiting.add(look);
          waiting.delete(look);
          if (found === undefined) reject(new Error(`ended without that line: ${lines.slice(-3)} ${stderr}`));
          else resolve(found);
        };
        look();
      }),
    async stopped() {
      while (!/^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8"))) await pause(5);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function endOf(child: ChildProcess): Running["ended"] {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
}
