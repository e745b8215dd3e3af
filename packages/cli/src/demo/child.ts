/**
 * The real gateway as a child process: the same command people type, over real HTTP and files, so that it can really be killed.
 * Invariant: what the demo knows of it comes from its first line of output, its socket, its files and its exit.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { isObject, tryParse, type World } from "@holdfast/base";
import { CliError } from "../errors.ts";
import { lines } from "../lines.ts";

/** Only for a process that hangs: a busy machine is slow, and not wrong. */
const START_LIMIT_MS = 60_000;
const STDERR_KEPT_CHARS = 4_000;

export interface GatewayChild extends AsyncDisposable {
  readonly pid: number;
  readonly address: string;
  /** SIGKILL; resolves when it is gone. True when that is what ended it. */
  kill(): Promise<boolean>;
}

/** The file beside this one that starts the command line: TypeScript in a checkout, JavaScript when built. */
function mainFile(): string {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return fileURLToPath(new URL(`../main.${ending}`, import.meta.url));
}

function launch(home: string, faults: Readonly<Record<string, string>>): ChildProcess {
  const { HOLDFAST_FAULT: _, HOLDFAST_FAULT_TRACE: __, ...env } = process.env;
  return spawn(
    process.execPath,
    [...process.execArgv, mainFile(), "gateway", "--json", "--port", "0", "--home", home],
    {
      env: { ...env, HOLDFAST_LOG: "warn", ...faults },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
}

/** Starts it and waits until it answers. `faults` are environment variables of base/src/points.ts. */
export async function startChild(
  home: string,
  faults: Readonly<Record<string, string>>,
  world: World,
): Promise<GatewayChild> {
  const child = launch(home, faults);
  const ended = once(child, "exit");
  const said = { stderr: "" };
  const forget = killedWithUs(child);
  void ended.then(forget);
  child.stderr?.on("data", (text) => {
    said.stderr = `${said.stderr}${text}`.slice(-STDERR_KEPT_CHARS);
  });
  const kill = async (): Promise<boolean> => {
    child.kill("SIGKILL");
    const [, signal] = await ended;
    return signal === "SIGKILL";
  };
  const limit = new AbortController();
  const tooLate = world.sleep(START_LIMIT_MS, limit.signal).then(
    () => undefined,
    () => undefined,
  );
  const line = await Promise.race([firstLine(child), tooLate]);
  limit.abort();
  const address = addressIn(line);
  if (address === undefined) {
    await kill();
    const why = said.stderr.trim() || line || "no message";
    throw new CliError("demo_failed", { why: `the gateway did not start: ${why}`, home });
  }
  return { pid: child.pid ?? 0, address, kill, [Symbol.asyncDispose]: async () => void (await kill()) };
}

/** A held process hears no signal of the terminal, so it must not be left behind when this one is told to go. */
function killedWithUs(child: ChildProcess): () => void {
  const kill = (): void => void child.kill("SIGKILL");
  process.prependListener("exit", kill); // before its home is removed
  return () => void process.off("exit", kill);
}

/** The first line of its output; undefined when it ends without one. */
async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of lines(child.stdout)) return line;
  return undefined;
}

function addressIn(line: string | undefined): string | undefined {
  const value = line === undefined ? undefined : tryParse(line);
  return isObject(value) && typeof value.address === "string" ? value.address : undefined;
}
