/**
 * One run of the command line: arguments in, exit code out. Every error of every command ends here, in one sentence.
 */
import type { CommandContext } from "./context.ts";
import type { ExitCode } from "./errors.ts";
import { baseOf, report } from "./report.ts";

/** Runs one command line. Resolves with the exit code; never rejects. */
export async function run(argv: readonly string[], version: () => string): Promise<ExitCode> {
  const base = baseOf(argv, version);
  try {
    const { parseAndRun } = await import("./program.ts");
    return await parseAndRun(argv, (options): CommandContext => ({ ...base, options }));
  } catch (error) {
    return report(base.output, error);
  }
}
