/** A gateway as its own process, the program `test/support/serve.ts`: for real kills and for two on one home. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const SERVE = fileURLToPath(new URL("./serve.ts", import.meta.url));

export interface Child {
  readonly process: ChildProcess;
  /** Its address; rejects with what it printed when it ends before. */
  readonly address: Promise<string>;
  /** Signal or exit code, once it has ended. */
  readonly ended: Promise<string | number>;
  readonly stderr: () => string;
}

export function startChild(home: string, env: Readonly<Record<string, string>> = {}): Child {
  const child = spawn(process.execPath, ["--conditions=holdfast-src", "--no-warnings", SERVE, home], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, HOLDFAST_LOG: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stderr.on("data", (piece) => {
    err += String(piece);
  });
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as string | number);
  const address = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (piece) => {
      out += String(piece);
      const found = /^(http:\/\/\S+)$/m.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((how) => reject(new Error(`ended (${how}): ${out}${err}`)));
  });
  address.catch(() => undefined);
  return { process: child, address, ended, stderr: () => err };
}
