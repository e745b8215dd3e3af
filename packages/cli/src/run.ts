/**
 * One run of the command line: arguments in, exit code out. Every error of every command ends here, in one sentence.
 * Invariant: a failure never leaves without a non-zero exit code and a text that says what to do next.
 */
import { realWorld } from "@holdfast/base";
import type { CommandContext } from "./context.ts";
import { coded, type ExitCode, exitCodeOf } from "./errors.ts";
import { quickSessionList } from "./quick.ts";
import { Output } from "./output.ts";

function report(output: Output, error: unknown): ExitCode {
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

/** Runs one command line. Resolves with the exit code; never rejects. */
export async function run(argv: readonly string[], version: () => string): Promise<ExitCode> {
  const output = new Output(process.stdout, () => process.stderr, process.env, wantsJson(argv));
  const base = { output, env: process.env, world: realWorld(), version };
  try {
    const quick = quickSessionList(argv);
    if (quick !== undefined) {
      const { listSessions } = await import("./commands/session-list.ts");
      return await listSessions({ ...base, options: quick });
    }
    const { parseAndRun } = await import("./program.ts");
    return await parseAndRun(argv, (options): CommandContext => ({ ...base, options }));
  } catch (error) {
    return report(output, error);
  }
}

/** Known before the arguments are parsed, so that even a wrong option is answered in JSON. What follows `--` is text. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}
