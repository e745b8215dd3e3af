/**
 * How a run begins and how it fails, whatever the command: where it prints, and the sentence and exit code of an error.
 * Invariant: a failure never leaves without a non-zero exit code and a text that says what to do next.
 */
import { realWorld } from "@holdfast/base";
import type { CommandContext } from "./context.ts";
import { coded, type ExitCode, exitCodeOf } from "./errors.ts";
import { Output } from "./output.ts";

/** What every command is given, but for its options. */
export function baseOf(argv: readonly string[], version: () => string): Omit<CommandContext, "options"> {
  const output = new Output(process.stdout, () => process.stderr, process.env, wantsJson(argv));
  return { output, env: process.env, world: realWorld(), version };
}

/** Prints the error and says the exit code. */
export function report(output: Output, error: unknown): ExitCode {
  const known = coded(error);
  if (output.json) output.jsonLine({ error: { code: known.code, message: known.message, details: known.details } });
  else output.note(`${output.paint.red("error:")} ${known.message}`);
  if (process.env.HOLDFAST_LOG === "debug")
    output.note(String((known.cause ?? known) instanceof Error ? stackOf(known) : ""));
  return exitCodeOf(known);
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by: ${error.cause.stack ?? error.cause.message}` : "";
  return `${error.stack ?? error.message}${cause}`;
}

/** Known before the arguments are parsed, so that even a wrong option is answered in JSON. What follows `--` is text. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}
