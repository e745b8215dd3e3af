/**
 * The supervisor: a process of its own that runs one command and writes down how it ended, whatever becomes of the gateway.
 * Started as `node supervisor.ts <attempt directory>`, detached, with the command's environment.
 *
 * Invariant: it marks the start before it runs anything, and exits at once when the mark is taken; so a command that was
 * settled as "never started" cannot start late.
 * SIGTERM means "cancel": the command's whole process group is ended. Uses Node alone (see attempt.ts).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Command, type Exit, makeStarted, putRecord, readRecord } from "./attempt.ts";

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;
/** How long output is awaited after the command ended; what it left in the background may hold the pipe for ever. */
const DRAIN_MS = 500;

/** Field 22 of /proc/self/stat, as in base/src/identity.ts; "" where there is no /proc. */
function startTicks(): string {
  if (!existsSync("/proc/self/stat")) return "";
  const stat = readFileSync("/proc/self/stat", "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function after(ms: number, run: () => void): void {
  AbortSignal.timeout(ms).addEventListener("abort", run, { once: true });
}

/** Both streams go through one pipe, so that their order is kept; the command has a process group of its own. */
function start({ command, cwd }: Command): ChildProcess {
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const both = ["-c", 'exec "$0" -c "$1" 2>&1', shell, command];
  return spawn("/bin/sh", both, { cwd, detached: true, stdio: ["ignore", "pipe", "ignore"] });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Ends the whole group when the time is up or somebody cancels. `why` is filled in once. */
function stopOn(
  child: ChildProcess,
  { timeoutMs, cancelled }: { readonly timeoutMs: number; readonly cancelled: AbortSignal },
): { why: Exit["stopped"] } {
  const stopped: { why: Exit["stopped"] } = { why: null };
  const stop = (why: NonNullable<Exit["stopped"]>): void => {
    if (stopped.why !== null || child.exitCode !== null || child.signalCode !== null) return;
    stopped.why = why;
    signalGroup(child, "SIGTERM");
    after(GRACE_MS, () => signalGroup(child, "SIGKILL"));
  };
  after(timeoutMs, () => stop("timeout"));
  if (cancelled.aborted) stop("cancelled");
  cancelled.addEventListener("abort", () => stop("cancelled"), { once: true });
  return stopped;
}

/** What is kept of the end of an output that is longer than the cap. */
const TAIL_BYTES = 64 * 1024;

/** Copies the output to its file up to the cap, then only its end; counts all of it. */
async function copyOutput(
  child: ChildProcess,
  file: FileHandle,
  bytesMax: number,
  count: { bytes: number; tail: Buffer },
): Promise<void> {
  for await (const chunk of child.stdout ?? []) {
    const room = Math.max(0, bytesMax - count.bytes);
    count.bytes += chunk.length;
    if (room > 0) await file.write(chunk.subarray(0, room));
    if (chunk.length > room) count.tail = Buffer.concat([count.tail, chunk.subarray(room)]).subarray(-TAIL_BYTES);
  }
}

async function run(directory: string, command: Command, cancelled: AbortSignal): Promise<void> {
  await using file = await open(join(directory, "output"), "w", 0o600);
  const child = start(command);
  const stopped = stopOn(child, { timeoutMs: command.timeoutMs, cancelled });
  const count = { bytes: 0, tail: Buffer.alloc(0) };
  const copied = copyOutput(child, file, command.outputBytesMax, count);
  const { code, signal, error } = await ended(child);
  await Promise.race([copied, new Promise<void>((resolve) => after(DRAIN_MS, resolve))]);
  const dropped = count.bytes - command.outputBytesMax - count.tail.length;
  if (dropped > 0) await file.write(`\n(${dropped} bytes were not kept)\n`);
  await file.write(count.tail);
  await file.sync();
  const exit: Exit = { code, signal, stopped: stopped.why, outputBytes: count.bytes, error };
  await putRecord(directory, "exit", exit);
}

async function ended(child: ChildProcess): Promise<Pick<Exit, "code" | "signal" | "error">> {
  try {
    const [code, signal] = await once(child, "exit");
    return { code, signal, error: null };
  } catch (error) {
    return { code: null, signal: null, error: error instanceof Error ? error.message : String(error) };
  }
}

async function main(directory: string): Promise<void> {
  const cancelled = new AbortController();
  process.on("SIGTERM", () => cancelled.abort());
  const command = (await readRecord(directory, "command")) as Command;
  const identity = { pid: process.pid, start: startTicks(), ...command.place, token: "supervisor" };
  if (await makeStarted(directory, identity)) await run(directory, command, cancelled.signal);
}

const directory = process.argv[2];
if (directory === undefined) throw new TypeError("usage: supervisor <attempt directory>");
await main(directory);
process.exit(0);
