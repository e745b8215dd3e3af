/**
 * The `exec` tool: a shell command in the workspace, under a supervisor that outlives the gateway.
 *
 * Invariant: a command is started at most once per attempt (`started`, attempt.ts), and its real output and exit status are
 * found again after a restart; nothing is said about its end unless `exit` is on disk.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { identityOf, isObject, type JsonObject, livenessOf, parseIdentity, type World } from "@holdfast/base";
import { z } from "zod";
import { isLettingGo } from "../../errors.ts";
import type { Probe, Tool, ToolContext, ToolOutcome } from "../../types.ts";
import { argumentsOf } from "../arguments.ts";
import { type Command, type Exit, makeStarted, putRecord, readRecord } from "./attempt.ts";
import { backgroundId, noteBackground } from "./background.ts";
import { commandEnvironment } from "./environment.ts";
import { outcomeOf } from "./outcome.ts";

const TIMEOUT_MS = 600_000;
const TIMEOUT_MS_MAX = 86_400_000;
const BACKGROUND_MS = 86_400_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** How long a supervisor may take to make its mark; after that the start is made impossible. */
const START_MS_MAX = 15_000;
const POLL_MS = 5;
const POLL_MS_MAX = 250;

const schema = z.strictObject({
  command: z.string().min(1).describe("Shell command; runs in the workspace, without a terminal or standard input"),
  timeoutMs: z
    .int()
    .min(100)
    .max(TIMEOUT_MS_MAX)
    .optional()
    .describe("Milliseconds until it is ended; 10 minutes if left out, a day in the background"),
  background: z
    .boolean()
    .optional()
    .describe("Do not wait for its end; look after it with the process tool. For servers and long work"),
});

export function execTool(env: Readonly<Record<string, string | undefined>>): Tool {
  const { spec, check, parse } = argumentsOf("exec", "Run a shell command in the workspace.", schema);
  return {
    spec,
    check: (args) => check(args) ?? (String(args.command).includes("\0") ? "command: holds a NUL character" : null),
    effect: "checkable",
    probe: (args, _evidence, context) => (args.background === true ? probeStart(context) : probe(context)),
    async run(args, _evidence, context) {
      const { command, background = false, timeoutMs = background ? BACKGROUND_MS : TIMEOUT_MS } = parse(args);
      const { boot, pidns, host } = identityOf("");
      const record: Command = {
        command,
        cwd: context.workspace,
        timeoutMs,
        outputBytesMax: OUTPUT_BYTES_MAX,
        place: { boot, pidns, host },
      };
      await putRecord(context.attemptDirectory, "command", record);
      context.world.at("exec:before-spawn");
      await startSupervisor(context.attemptDirectory, commandEnvironment(env));
      context.world.at("exec:after-spawn");
      return background ? startedBehind(context, command) : watched(context);
    },
  };
}

/** Returns once the command has begun; from then on the files speak for it. */
async function startedBehind(context: ToolContext, command: string): Promise<ToolOutcome> {
  const { attemptDirectory, world, signal } = context;
  await noteBackground(attemptDirectory, { command, startedMs: world.nowMs() });
  for (let waitMs = POLL_MS; ; waitMs = Math.min(waitMs * 1.5, POLL_MS_MAX)) {
    const { kind } = await look(attemptDirectory);
    if (kind === "void") return { ok: false, text: "The command could not be started; nothing was run." };
    if (kind !== "unmarked") return begun(attemptDirectory);
    await world.sleep(waitMs, signal);
  }
}

function begun(attemptDirectory: string): ToolOutcome {
  const id = backgroundId(attemptDirectory);
  return {
    ok: true,
    text: `Started in the background as ${id}. Look after it with process.`,
    details: { process: id },
  };
}

/** Of a command in the background only its start is the effect. */
async function probeStart(context: ToolContext): Promise<Probe> {
  const { kind } = await look(context.attemptDirectory);
  if (kind === "unmarked" || kind === "void") return probe(context);
  return { kind: "happened", outcome: begun(context.attemptDirectory), evidence: { started: kind } };
}

/** The file beside this one, as source or as built. */
function supervisorFile(): string {
  const name = import.meta.url.endsWith(".ts") ? "./supervisor.ts" : "./supervisor.js";
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Resolves when the process exists. It has a session of its own, so no signal to the gateway's group reaches it. */
function startSupervisor(directory: string, env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [supervisorFile(), directory], { detached: true, stdio: "ignore", env });
    child.once("error", reject);
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}

/** Waits for the end. An abort ends the command too, unless the gateway only lets go of it (`AgentError`). */
async function watched(context: ToolContext): Promise<ToolOutcome> {
  const { attemptDirectory, signal, world } = context;
  try {
    await untilEnded(context);
  } catch (error) {
    if (!signal.aborted || isLettingGo(signal.reason)) throw error;
    await cancel(attemptDirectory);
    await untilEnded({ attemptDirectory, world });
  }
  const seen = await look(attemptDirectory);
  if (seen.kind === "exited") return outcomeOf(attemptDirectory, seen.exit);
  if (seen.kind === "void") return { ok: false, text: "The command could not be started; nothing was run." };
  return { ok: false, text: `${LOST} It may have done a part of its work.` };
}

const LOST = "The command was started, but its supervisor ended without writing down how it went.";

export type Seen =
  | { readonly kind: "exited"; readonly exit: Exit }
  | { readonly kind: "void" | "unmarked" }
  | { readonly kind: "running" | "lost" | "elsewhere"; readonly by: JsonObject };

/** What the files say now. `exit` counts on any boot; a running process can only be seen from its own place. */
export async function look(directory: string): Promise<Seen> {
  const started = await readRecord(directory, "started");
  const exit = await readRecord(directory, "exit");
  if (isObject(exit)) return { kind: "exited", exit: exit as unknown as Exit };
  if (started === undefined) return { kind: "unmarked" };
  const identity = parseIdentity(started);
  if (identity === undefined) return { kind: "void" };
  const by = { pid: identity.pid, boot: identity.boot, host: identity.host };
  switch (livenessOf(identity)) {
    case "alive":
      return { kind: "running", by };
    case "unknown":
      return { kind: "elsewhere", by };
    default:
      return (await readRecord(directory, "exit")) === undefined ? { kind: "lost", by } : look(directory);
  }
}

/** Polls until there is nothing to wait for. Whoever waits long for a start makes it impossible. */
async function untilEnded(context: {
  readonly attemptDirectory: string;
  readonly world: World;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { attemptDirectory, world, signal } = context;
  const startedMs = world.monotonicMs();
  for (let waitMs = POLL_MS; ; waitMs = Math.min(waitMs * 1.5, POLL_MS_MAX)) {
    const seen = await look(attemptDirectory);
    if (seen.kind !== "running" && seen.kind !== "unmarked") return;
    const late = world.monotonicMs() - startedMs > START_MS_MAX;
    if (seen.kind === "unmarked" && late && (await makeStarted(attemptDirectory, VOID))) return;
    await world.sleep(waitMs, signal);
  }
}

/** In the place of an identity: this attempt was not started and cannot be any more. */
const VOID = { void: true } as const;

/** Ends a command: before it starts, or by asking its supervisor. */
export async function cancel(directory: string): Promise<void> {
  if (await makeStarted(directory, VOID)) return;
  const identity = parseIdentity(await readRecord(directory, "started"));
  if (identity !== undefined && livenessOf(identity) === "alive") process.kill(identity.pid, "SIGTERM");
}

async function probe(context: ToolContext): Promise<Probe> {
  const { attemptDirectory, world } = context;
  const seen = await look(attemptDirectory);
  switch (seen.kind) {
    case "exited":
      return {
        kind: "happened",
        outcome: await outcomeOf(attemptDirectory, seen.exit),
        evidence: { exit: { ...seen.exit } },
      };
    case "running":
      return { kind: "in_flight", wait: (signal) => untilEnded({ attemptDirectory, world, signal }) };
    case "lost":
    case "elsewhere":
      return { kind: "unknown", evidence: { started: seen.by }, says: `${LOST} Look at what it was to change.` };
    case "void":
      return {
        kind: "absent",
        evidence: { started: "void" },
        says: "The command was not started, and cannot start late.",
      };
    case "unmarked":
      // Throws where the folder itself is gone: then nothing is known, and nothing can be made impossible.
      await makeStarted(attemptDirectory, VOID);
      return probe(context);
    default:
      return seen satisfies never;
  }
}
