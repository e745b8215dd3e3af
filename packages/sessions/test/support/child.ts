/** Runs a support program under the pinned Node and collects what it prints, until it ends or is killed. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly lines: readonly string[];
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly stderr: string;
}

/** `onLine` may kill: it gets a function that does. */
export function runChild(
  program: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly onLine?: (line: string, kill: () => void) => void } = {},
): Promise<Ended> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=holdfast-src", path, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  child.stdout.on("data", (data) => {
    const parts = `${rest}${data}`.split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      lines.push(line);
      options.onLine?.(line, () => child.kill("SIGKILL"));
    }
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ lines, code, signal, stderr }));
  });
}
