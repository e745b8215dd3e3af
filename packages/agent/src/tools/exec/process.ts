/**
 * The `process` tool: looks after commands in the background, also after a restart of the gateway.
 * Invariant: it says what the command's files say; a command that is gone without an exit status is said to be lost.
 */
import { assertNever, type JsonObject } from "@holdfast/base";
import { z } from "zod";
import type { Tool, ToolContext, ToolOutcome } from "../../types.ts";
import { argumentsOf } from "../arguments.ts";
import { actionsOf, type BackgroundCommand, backgroundCommands } from "./background.ts";
import { cancel, look } from "./exec.ts";
import { endingOf, shownOutput } from "./outcome.ts";

const POLL_MS = 100;
const WAIT_MS_MAX = 300_000;
const END_MS_MAX = 15_000;

const schema = z.strictObject({
  action: z
    .enum(["list", "poll", "log", "kill"])
    .describe("list: all; poll: how one goes, waiting for its end if asked; log: its output; kill: end it"),
  id: z.string().optional().describe("Which one; not for list"),
  waitMs: z.int().min(0).max(WAIT_MS_MAX).optional().describe("poll: wait up to so many milliseconds for its end"),
});

export function processTool(): Tool {
  const { spec, check, parse } = argumentsOf(
    "process",
    "Look after commands that exec started in the background.",
    schema,
  );
  return {
    spec,
    check: (args) => check(args) ?? (args.action !== "list" && typeof args.id !== "string" ? "id: missing" : null),
    effect: "idempotent",
    effectOf: (args) => (parse(args).action === "kill" ? "idempotent" : "none"),
    async run(args, _evidence, context) {
      const { action, id = "", waitMs = 0 } = parse(args);
      const all = await backgroundCommands(actionsOf(context.attemptDirectory));
      if (action === "list") return { ok: true, text: await listed(all, context) };
      const found = all.find((one) => one.id === id);
      if (found === undefined) return { ok: false, text: `There is no command ${id} in the background. Use list.` };
      switch (action) {
        case "poll":
          await untilOver(found, context, waitMs);
          return polled(found);
        case "log":
          return { ok: true, text: (await outputOf(found)) || "(no output so far)" };
        case "kill":
          await cancel(found.directory);
          await untilOver(found, context, END_MS_MAX);
          return polled(found);
        default:
          return assertNever(action);
      }
    },
  };
}

async function listed(all: readonly BackgroundCommand[], { world }: ToolContext): Promise<string> {
  const lines = await Promise.all(
    all.map(async (one) => {
      const seconds = Math.round((world.nowMs() - one.startedMs) / 1000);
      return `${one.id}  ${(await stateOf(one)).text}  begun ${seconds} s ago: ${one.command.slice(0, 200)}`;
    }),
  );
  return lines.join("\n") || "There is no command in the background.";
}

async function stateOf({
  directory,
}: BackgroundCommand): Promise<{ readonly over: boolean; readonly text: string; readonly details: JsonObject }> {
  const seen = await look(directory);
  switch (seen.kind) {
    case "running":
      return { over: false, text: "running", details: { state: "running" } };
    case "exited":
      return {
        over: true,
        text: `ended (${endingOf(seen.exit)})`,
        details: { state: "ended", exitCode: seen.exit.code },
      };
    case "lost":
    case "elsewhere":
      return { over: true, text: "lost: its supervisor is gone and wrote down no end", details: { state: "lost" } };
    case "void":
    case "unmarked":
      return { over: true, text: "never started", details: { state: "void" } };
    default:
      return assertNever(seen);
  }
}

async function untilOver(command: BackgroundCommand, { world, signal }: ToolContext, waitMs: number): Promise<void> {
  const startedMs = world.monotonicMs();
  while (!(await stateOf(command)).over && world.monotonicMs() - startedMs < waitMs) await world.sleep(POLL_MS, signal);
}

async function polled(command: BackgroundCommand): Promise<ToolOutcome> {
  const { text, details } = await stateOf(command);
  const output = await outputOf(command);
  return { ok: true, text: `${text}\n${output}`.trimEnd(), details };
}

/** What it printed so far; a command that was never started printed nothing. */
async function outputOf({ directory }: BackgroundCommand): Promise<string> {
  return (await shownOutput(directory).catch(() => ({ text: "" }))).text;
}
