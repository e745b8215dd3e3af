/** `holdfast config check`: is holdfast.json right? Problems are exit code 3 and named one by one; nothing is changed. */
import { join } from "node:path";
import { checkConfig as readConfig, describeProblem } from "@holdfast/gateway";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { counted } from "../table.ts";

/** `{ "ok", "file", "problems": [{ path, line, message }] }`. Throws `config_unreadable`. */
export async function checkConfig(context: CommandContext): Promise<ExitCode> {
  const home = homeOf(context);
  const file = join(home, "holdfast.json");
  const checked = await readConfig(home, context.env);
  const problems = checked.ok ? [] : checked.problems;
  context.output.result({ ok: checked.ok, file, problems }, (paint) => {
    if (checked.ok) return `${paint.green("ok")} ${file}`;
    const lines = problems.map((problem) => `  ${paint.red("-")} ${describeProblem(problem)}`);
    return [`${file} has ${counted(problems.length, "problem")}:`, ...lines].join("\n");
  });
  return checked.ok ? EXIT.ok : EXIT.problems;
}
