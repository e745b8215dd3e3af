/**
 * `session list` without the option parser: the one command whose start is measured against Node's own.
 * `npm run build` joins this file and all it imports into one, since each further module costs a part of a millisecond;
 * so nothing of it may be shared, by identity, with what is loaded later: it either runs the command or declines.
 */
import { listSessions } from "./commands/session-list.ts";
import type { ExitCode } from "./errors.ts";
import { quickSessionList } from "./quick.ts";
import { baseOf, report } from "./report.ts";

/** The exit code, or undefined when these arguments are not plainly `session list`. Never rejects. */
export async function runQuickList(argv: readonly string[], version: () => string): Promise<ExitCode | undefined> {
  const options = quickSessionList(argv);
  if (options === undefined) return undefined;
  const base = baseOf(argv, version);
  try {
    return await listSessions({ ...base, options });
  } catch (error) {
    return report(base.output, error);
  }
}
